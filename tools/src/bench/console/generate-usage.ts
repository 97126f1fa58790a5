import type { UsageStore } from '@tollgate/platform/usage-store/usage-store'

const dayMs = 86_400_000

/** The generated usage: two meters with two dimensions, five products, and a purchase for each customer. */
export type GeneratedUsage = {
  readonly providerId: string
  readonly records: number
  readonly customers: number
  /** The records are spread evenly over the days before. */
  readonly endMs: number
  readonly days: number
}

export const generatedMeters = ['requests', 'tokens'] as const

const insertRecords = 2_000_000

/** Inserts records that ClickHouse generates. Its views fill the roll-ups as they do for the sink. */
export async function generateUsage(
  store: UsageStore,
  usage: GeneratedUsage,
  print: (line: string) => void,
): Promise<void> {
  for (let from = 0; from < usage.records; from += insertRecords) {
    const to = Math.min(usage.records, from + insertRecords)
    await store.command(insertOf(usage, from, to))
    print(`generated ${to} of ${usage.records} records`)
  }
}

/** One record in 50 is a paywall, and one in 100 a failure. */
function insertOf(
  { providerId, records, customers, endMs, days }: GeneratedUsage,
  from: number,
  to: number,
): string {
  const startMs = endMs - days * dayMs
  return `
    INSERT INTO sandbox.usage_records (id, provider_id, customer_ref, meter_name, value, timestamp, received_at,
      product_ref, purchase_ref, outcome, source, dimensions, debit, log_partition, log_offset)
    WITH cityHash64(number) AS hash, hash % ${customers} AS customer, intDiv(hash, 1000003) % 100 AS chance,
      fromUnixTimestamp64Milli(toInt64(${startMs} + intDiv(number * ${days * dayMs}, ${records})), 'UTC') AS at
    SELECT concat('usage_0000000000', lower(hex(hash))), '${providerId}', concat('cus_bench_', toString(customer)),
      number % 4 = 0 ? 'tokens' : 'requests', toDecimal64(1 + hash % 5, 6), at, at,
      concat('prd_bench_', toString(customer % 5)), concat('pur_bench_', toString(customer)),
      multiIf(chance < 2, 'paywall', chance < 3, 'fail', 'success'), 'usages',
      map('model', concat('model_', toString(hash % 20)), 'region', concat('region_', toString(hash % 7))),
      toDecimal128(hash % 3, 6), customer % 12, number
    FROM numbers(${from}, ${to - from})`
}
