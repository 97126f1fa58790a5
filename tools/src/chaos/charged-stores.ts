import { readSettings } from '@tollgate/platform/config/settings'
import { createPostgresDatabase } from '@tollgate/platform/database/postgres/postgres-database'
import {
  clickHouseConnection,
  clickHouseSettings,
} from '@tollgate/platform/usage-store/clickhouse/clickhouse-settings'
import { createClickHouseUsageStore } from '@tollgate/platform/usage-store/clickhouse/clickhouse-usage-store'
import type { UsageStore } from '@tollgate/platform/usage-store/usage-store'
import { chargedMeters, grantedCredits, type ChargedProduct } from '../client/charged-product.ts'
import { noChargedTotals, type ChargedTotals } from '../load/charged-totals.ts'

/** Usage with charges in ClickHouse and in PostgreSQL, by the reference of the customer. */
export type StoredCharges = {
  readonly stored: ReadonlyMap<string, ChargedTotals>
  readonly rolledUp: ReadonlyMap<string, ChargedTotals['units']>
  /** Debits that are posted to the ledger, in 10^-6 credits. */
  readonly postedMicros: ReadonlyMap<string, bigint>
}

const space = 'sandbox'
const grantedMicros = BigInt(grantedCredits) * 1_000_000n
const limits = { requestTimeoutMs: 60_000, connectionsMax: 2 }

/** Reads directly from the stores that an environment of services names. */
export async function readStoredCharges(
  environment: Readonly<Record<string, string | undefined>>,
  product: ChargedProduct,
): Promise<StoredCharges> {
  const config = readSettings(clickHouseSettings, environment)
  const store = createClickHouseUsageStore(clickHouseConnection(config, limits))
  try {
    const [stored, rolledUp, postedMicros] = await Promise.all([
      readStored(store, product),
      readRolledUp(store, product),
      readPosted(environment, product),
    ])
    return { stored, rolledUp, postedMicros }
  } finally {
    await store.close()
  }
}

async function readStored(
  store: UsageStore,
  product: ChargedProduct,
): Promise<Map<string, ChargedTotals>> {
  const ofProducts = 'product_ref IN {productRefs:Array(String)}'
  const { productRefs } = product
  const [counts, records, debits] = await Promise.all([
    store.query<{ customer_ref: string; meter_name: string; units: string }>(
      `SELECT customer_ref, meter_name, toString(sum(amount)) AS units
       FROM (SELECT customer_ref, meter_name, id, any(value) AS amount
         FROM ${space}.usage_records WHERE ${ofProducts} GROUP BY customer_ref, meter_name, id)
       GROUP BY customer_ref, meter_name`,
      { productRefs },
    ),
    store.query<{ customer_ref: string; records: string }>(
      `SELECT customer_ref, toString(uniqExact(id)) AS records
       FROM ${space}.usage_records WHERE ${ofProducts} GROUP BY customer_ref`,
      { productRefs },
    ),
    store.query<{ customer_ref: string; micros: string }>(
      `SELECT customer_ref, toString(toInt64(sum(amount) * 1000000)) AS micros
       FROM (SELECT customer_ref, id, any(debit) AS amount
         FROM ${space}.credit_debits WHERE ${ofProducts} GROUP BY customer_ref, id)
       GROUP BY customer_ref`,
      { productRefs },
    ),
  ])
  const totals = new Map(
    product.customers.map(({ customerRef }) => [customerRef, noChargedTotals()]),
  )
  addUnits((customerRef) => totals.get(customerRef)?.units, counts, product)
  for (const row of records) totals.get(row.customer_ref)!.records = Number(row.records)
  for (const row of debits) totals.get(row.customer_ref)!.debitMicros = BigInt(row.micros)
  return totals
}

async function readRolledUp(
  store: UsageStore,
  product: ChargedProduct,
): Promise<Map<string, ChargedTotals['units']>> {
  const rows = await store.query<{ customer_ref: string; meter_name: string; units: string }>(
    `SELECT customer_ref, meter_name, toString(sum(value)) AS units FROM ${space}.usage_by_hour
     WHERE product_ref IN {productRefs:Array(String)} GROUP BY customer_ref, meter_name`,
    { productRefs: product.productRefs },
  )
  const units = new Map(
    product.customers.map(({ customerRef }) => [customerRef, noChargedTotals().units]),
  )
  addUnits((customerRef) => units.get(customerRef), rows, product)
  return units
}

/** Enters rows with units. A CloudEvent has no meter of its own, so only the meters of the product occur. */
function addUnits(
  unitsOf: (customerRef: string) => ChargedTotals['units'] | undefined,
  rows: readonly { customer_ref: string; meter_name: string; units: string }[],
  { meterNames }: ChargedProduct,
): void {
  for (const { customer_ref, meter_name, units } of rows) {
    const meter = chargedMeters.find((each) => meterNames[each] === meter_name)
    const own = unitsOf(customer_ref)
    if (meter === undefined || own === undefined) {
      throw new Error(`Usage of ${customer_ref} on ${meter_name} was not sent`)
    }
    own[meter] = Number(units)
  }
}

async function readPosted(
  environment: Readonly<Record<string, string | undefined>>,
  { customers }: ChargedProduct,
): Promise<Map<string, bigint>> {
  const customerRefs = customers.map(({ customerRef }) => customerRef)
  const url = environment['TOLLGATE_DATABASE_URL'] ?? ''
  const database = createPostgresDatabase({ url, isOwner: true, poolMax: 1 })
  try {
    const rows = await database.in(space)<{ customer_ref: string; balance: string }[]>`
      select customer_ref, balance_micros as balance from wallets
      where customer_ref = any(${customerRefs})`
    return new Map(
      rows.map((row) => [row.customer_ref, grantedMicros - BigInt(row.balance)] as const),
    )
  } finally {
    await database.close()
  }
}
