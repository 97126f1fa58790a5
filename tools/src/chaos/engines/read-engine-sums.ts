import type { TollgateClient } from '@tollgate/deploy/client/tollgate-client'
import { measuredCap } from '../../client/measured-product.ts'
import type { CustomerLedger } from '../../load/ledger.ts'
import type { CustomerSums } from './engine-sums.ts'
import type { EngineStores, StoredSums } from './engine-stores.ts'

export type EngineSumsOptions = {
  readonly client: TollgateClient
  readonly stores: EngineStores
  readonly productRef: string
  /** With it each customer's usage is asked of the API as well: a query each. */
  readonly meterRef?: string
  /** Customers that are asked about at a time. */
  readonly customersAtOnce: number
}

/** By customer, with whether all of the customer's records bore keys. */
export type Ledgers = readonly { readonly ledger: CustomerLedger; readonly isKeyed: boolean }[]

const dayMs = 86_400_000
const nothingStored: StoredSums = { units: 0, records: 0, rows: 0, rolledUp: 0 }

/** Asks every place for the sums of each customer: the API, and the engines behind its back. */
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
    rowsTwice: row.rows - row.records,
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
