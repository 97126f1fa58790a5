import type { TollgateClient } from '@tollgate/deploy/client/tollgate-client'
import { measuredCap } from '../../client/measured-product.ts'
import type { CustomerLedger } from '../../load/ledger.ts'
import type { CustomerSums } from './engine-sums.ts'
import type { EngineStores, StoredSums } from './engine-stores.ts'

export type EngineSumsOptions = {
  readonly client: TollgateClient
  readonly stores: EngineStores
  readonly productRef: string
  /** If set, the usage of each customer is also queried from the API, with 1 query per customer. */
  readonly meterRef?: string
  /** Number of customers that are read concurrently. */
  readonly customersAtOnce: number
}

/** The ledgers of the customers, and whether all records of the customer had keys. */
export type Ledgers = readonly { readonly ledger: CustomerLedger; readonly isKeyed: boolean }[]

const dayMs = 86_400_000
const nothingStored: StoredSums = { units: 0, records: 0, rows: 0, rolledUp: 0 }

/** Reads the sums of each customer from the API and directly from the engines. */
export async function readEngineSums(
  options: EngineSumsOptions,
  ledgers: Ledgers,
): Promise<CustomerSums[]> {
  const stored = await options.stores.readStored()
  const sums: CustomerSums[] = []
  const waiting = ledgers.entries()
  const work = async (): Promise<void> => {
    for (const [index, { ledger, isKeyed }] of waiting) {
      const row = stored.get(ledger.customerRef) ?? nothingStored
      sums[index] = { ...(await readCustomer(options, ledger, row)), isKeyed }
    }
  }
  await Promise.all(Array.from({ length: options.customersAtOnce }, work))
  return sums
}

async function readCustomer(
  { client, stores, productRef, meterRef }: EngineSumsOptions,
  ledger: CustomerLedger,
  row: StoredSums,
): Promise<Omit<CustomerSums, 'isKeyed'>> {
  const { customerRef } = ledger
  const [limit, queried, inRedis] = await Promise.all([
    client.checkLimit(customerRef, productRef),
    meterRef === undefined ? undefined : queryUsage(client, meterRef, customerRef),
    stores.readRedis(customerRef),
  ])
  return {
    customerRef,
    acked: ledger.units,
    sent: ledger.sentUnits,
    counted: measuredCap - limit.remaining,
    inRedis,
    queried,
    stored: row.units,
    rolledUp: row.rolledUp,
    ackedRecords: ledger.records,
    sentRecords: ledger.sentRecords,
    storedRecords: row.records,
    duplicateRows: row.rows - row.records,
  }
}

async function queryUsage(
  client: TollgateClient,
  meterRef: string,
  customerRef: string,
): Promise<number> {
  const now = Date.now()
  const { total } = await client.meterUsage(meterRef, {
    from: new Date(now - dayMs).toISOString(),
    to: new Date(now + dayMs).toISOString(),
    customerRef,
  })
  return total
}
