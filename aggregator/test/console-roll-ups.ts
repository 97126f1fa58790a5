import type { UsageStore } from '@tollgate/platform/usage-store/usage-store'
import type { MeterEvent } from '@tollgate/schemas/meter-event'

type RollUps = {
  readonly byPurchase: ReadonlySet<string>
  readonly byDimension: ReadonlySet<string>
  /** Sums by which `usage_by_meter` or `usage_by_day` differ from `usage_by_purchase`. */
  readonly differences: readonly unknown[]
}

/** Returns the rows of the roll-ups of the console, as JSON, without rows that sum up to nothing. */
export async function readConsoleRollUps(
  store: UsageStore,
  parameters: { readonly partition: number; readonly customers: string },
): Promise<RollUps> {
  const byPurchase = await store.query(
    `SELECT concat(customer_ref, ' ', product_ref, ' ', outcome, ' ', toString(toUnixTimestamp(hour))) AS key,
       toString(sum(value)) AS used, toString(sum(records)) AS uses, toString(sum(events)) AS total,
       toString(sum(debit)) AS debited
     FROM sandbox.usage_by_purchase WHERE customer_ref LIKE {customers:String}
     GROUP BY customer_ref, product_ref, outcome, hour HAVING used != '0' OR uses != '0' OR total != '0' OR debited != '0'`,
    parameters,
  )
  const byDimension = await store.query(
    `SELECT concat(dimension, ' ', dimension_value, ' ', product_ref, ' ', outcome, ' ', toString(toUnixTimestamp(hour))) AS key,
       toString(sum(value)) AS used, toString(sum(records)) AS uses
     FROM sandbox.usage_by_dimension WHERE log_partition = {partition:UInt32}
     GROUP BY dimension, dimension_value, product_ref, outcome, hour HAVING used != '0' OR uses != '0'`,
    parameters,
  )
  const sums = (sign: '' | '-') =>
    ['value', 'records', 'events', 'debit'].map((name) => `${sign}${name} AS lacking_${name}`)
  const ofPurchases = `FROM sandbox.usage_by_purchase WHERE customer_ref LIKE {customers:String}`
  const differences = await store.query(
    `SELECT kind, at, toString(sum(lacking_value)) AS used, toString(sum(lacking_records)) AS uses,
       toString(sum(lacking_events)) AS total, toString(sum(lacking_debit)) AS debited
     FROM (
       SELECT 'hour' AS kind, hour AS at, product_ref, outcome, '' AS customer, ${sums('').join(', ')} ${ofPurchases}
       UNION ALL
       SELECT 'hour', hour, product_ref, outcome, '', ${sums('-').join(', ')}
       FROM sandbox.usage_by_meter WHERE log_partition = {partition:UInt32}
       UNION ALL
       SELECT 'day', toStartOfDay(hour, 'UTC'), product_ref, outcome, customer_ref, ${sums('').join(', ')} ${ofPurchases}
       UNION ALL
       SELECT 'day', day, product_ref, outcome, customer_ref, ${sums('-').join(', ')}
       FROM sandbox.usage_by_day WHERE log_partition = {partition:UInt32}
     )
     GROUP BY kind, at, product_ref, outcome, customer
     HAVING used != '0' OR uses != '0' OR total != '0' OR debited != '0'`,
    parameters,
  )
  return {
    differences,
    byPurchase: new Set(byPurchase.map((each) => JSON.stringify(each))),
    byDimension: new Set(byDimension.map((each) => JSON.stringify(each))),
  }
}

/** Computes the same rows in the simplest way. */
export function expectedConsoleRollUps(events: readonly MeterEvent[]): RollUps {
  const purchases = new Map<string, { used: bigint; uses: number; debited: bigint }>()
  const models = new Map<string, { used: bigint; uses: number }>()
  for (const event of events) {
    const { customerRef, timestamp, value, outcome, debit, dimensions } = event
    const productRef = event.productRef ?? ''
    const key = `${customerRef} ${productRef} ${outcome} ${timestamp / 1000}`
    const held = purchases.get(key) ?? { used: 0n, uses: 0, debited: 0n }
    purchases.set(key, {
      used: held.used + BigInt(value),
      uses: held.uses + 1,
      debited: held.debited + BigInt(debit ?? 0),
    })
    const { model } = dimensions as { model?: string }
    if (model === undefined) continue
    const modelKey = `model ${model} ${productRef} ${outcome} ${timestamp / 1000}`
    const { used, uses } = models.get(modelKey) ?? { used: 0n, uses: 0 }
    models.set(modelKey, { used: used + BigInt(value), uses: uses + 1 })
  }
  return {
    differences: [],
    byPurchase: new Set(
      [...purchases].map(([key, { used, uses, debited }]) =>
        JSON.stringify({
          key,
          used: unitsOf(used),
          uses: String(uses),
          total: String(uses),
          debited: unitsOf(debited),
        }),
      ),
    ),
    byDimension: new Set(
      [...models].map(([key, { used, uses }]) =>
        JSON.stringify({ key, used: unitsOf(used), uses: String(uses) }),
      ),
    ),
  }
}

/** Returns the decimal of whole units as ClickHouse writes it. */
export function unitsOf(micros: bigint): string {
  return String(micros / 1_000_000n)
}
