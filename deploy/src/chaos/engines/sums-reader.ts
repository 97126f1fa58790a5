import { createHash } from 'node:crypto'
import { readSettings } from '@tollgate/platform/config/settings'
import { hotStateSettings } from '@tollgate/platform/hot-state/hot-state-settings'
import type { HotState } from '@tollgate/platform/hot-state/hot-state'
import { openHotState } from '@tollgate/platform/hot-state/open-hot-state'
import { createLogger } from '@tollgate/platform/observability/logger'
import {
  clickHouseConnection,
  clickHouseSettings,
} from '@tollgate/platform/usage-store/clickhouse/clickhouse-settings'
import { createClickHouseUsageStore } from '@tollgate/platform/usage-store/clickhouse/clickhouse-usage-store'
import type { UsageStore } from '@tollgate/platform/usage-store/usage-store'
import { apiKeyDocumentKey, type PublishedApiKey } from '@tollgate/schemas/hot-state/documents'
import { requestsMeterName } from '@tollgate/schemas/http/meter-events'
import { partitionOf, subjectKey } from '@tollgate/schemas/subject'
import { measuredCap } from '../../client/measured-product.ts'
import type { TollgateClient } from '../../client/tollgate-client.ts'
import type { CustomerLedger } from '../load.ts'
import type { CustomerSums } from './engine-sums.ts'

/** Asks every place for its sums: the API, and the engines behind its back. */
export type SumsReader = {
  read(
    ledgers: readonly CustomerLedger[],
    unkeyedLedgers: readonly CustomerLedger[],
  ): Promise<CustomerSums[]>
  /** What Redis holds of the customer, in units. */
  readRedis(customerRef: string): Promise<number>
  close(): Promise<void>
}

export type SumsReaderOptions = {
  readonly client: TollgateClient
  readonly sandboxKey: string
  readonly productRef: string
  readonly meterRef: string
  readonly environment: Readonly<Record<string, string | undefined>>
  readonly partitionCount: number
}

const space = 'sandbox'
const dayMs = 86_400_000
const microsPerUnit = 1_000_000n

export async function openSumsReader(options: SumsReaderOptions): Promise<SumsReader> {
  const { environment } = options
  const config = readSettings({ ...hotStateSettings, ...clickHouseSettings }, environment)
  // What it has to say is part of the chaos.
  const logger = createLogger('chaos', 'silent')
  const hotState = await openHotState({ ...config, dataDir: '' }, 'reader', logger)
  const limits = { requestTimeoutMs: 10_000, connectionsMax: 2 }
  const store = createClickHouseUsageStore(clickHouseConnection(config, limits))
  const close = async (): Promise<void> => {
    await hotState.close()
    await store.close()
  }
  try {
    const providerId = await providerOf(hotState, options.sandboxKey)
    const readRedis = (customerRef: string): Promise<number> =>
      readUnitsInRedis(hotState, options, subjectKey(providerId, customerRef))
    return {
      async read(ledgers, unkeyedLedgers) {
        const rows = await readStored(store, options.productRef)
        const readOne = (isKeyed: boolean) => (ledger: CustomerLedger) =>
          readCustomer(options, readRedis, rows, ledger, isKeyed)
        return await Promise.all([
          ...ledgers.map(readOne(true)),
          ...unkeyedLedgers.map(readOne(false)),
        ])
      },
      readRedis,
      close,
    }
  } catch (error) {
    await close()
    throw error
  }
}

async function providerOf(hotState: HotState, key: string): Promise<string> {
  const sha256Hex = createHash('sha256').update(key).digest('hex')
  const document = await hotState.readDocument(apiKeyDocumentKey(sha256Hex))
  if (document === undefined) throw new Error('The key of the installation is not published.')
  return (JSON.parse(document) as PublishedApiKey).providerId
}

async function readUnitsInRedis(
  hotState: HotState,
  { productRef, partitionCount }: SumsReaderOptions,
  subject: string,
): Promise<number> {
  const partition = partitionOf(subject, partitionCount)
  const at = { space, partition, subject, scope: productRef }
  const { amounts } = await hotState.readEntry(at, requestsMeterName)
  const micros = [...amounts.values()].reduce((sum, amount) => sum + amount, 0n)
  return Number(micros / microsPerUnit)
}

type StoredRow = {
  readonly units: number
  readonly records: number
  readonly rows: number
  readonly rolledUp: number
}

async function readStored(
  store: UsageStore,
  productRef: string,
): Promise<ReadonlyMap<string, StoredRow>> {
  const [records, rolledUp] = await Promise.all([
    store.query<{ customer_ref: string; units: string; records: string; copies: string }>(
      `SELECT customer_ref, toString(sum(amount)) AS units, toString(count()) AS records,
         toString(sum(each)) AS copies
       FROM (SELECT customer_ref, id, any(value) AS amount, count() AS each
         FROM ${space}.usage_records WHERE product_ref = {productRef:String}
         GROUP BY customer_ref, id)
       GROUP BY customer_ref`,
      { productRef },
    ),
    store.query<{ customer_ref: string; units: string }>(
      `SELECT customer_ref, toString(sum(value)) AS units FROM ${space}.usage_by_hour
       WHERE product_ref = {productRef:String} GROUP BY customer_ref`,
      { productRef },
    ),
  ])
  const units = new Map(rolledUp.map((row) => [row.customer_ref, Number(row.units)]))
  return new Map(
    records.map((row) => [
      row.customer_ref,
      {
        units: Number(row.units),
        records: Number(row.records),
        rows: Number(row.copies),
        rolledUp: units.get(row.customer_ref) ?? 0,
      },
    ]),
  )
}

async function readCustomer(
  { client, productRef, meterRef }: SumsReaderOptions,
  readRedis: (customerRef: string) => Promise<number>,
  stored: ReadonlyMap<string, StoredRow>,
  ledger: CustomerLedger,
  isKeyed: boolean,
): Promise<CustomerSums> {
  const { customerRef } = ledger
  const now = Date.now()
  const [limit, usage, inRedis] = await Promise.all([
    client.checkLimit(customerRef, productRef),
    client.meterUsage(meterRef, {
      from: new Date(now - dayMs).toISOString(),
      to: new Date(now + dayMs).toISOString(),
      customerRef,
    }),
    readRedis(customerRef),
  ])
  const row = stored.get(customerRef) ?? { units: 0, records: 0, rows: 0, rolledUp: 0 }
  return {
    customerRef,
    isKeyed,
    acked: ledger.units,
    sent: ledger.sentUnits,
    counted: measuredCap - limit.remaining,
    inRedis,
    queried: usage.total,
    stored: row.units,
    rolledUp: row.rolledUp,
    ackedRecords: ledger.records,
    sentRecords: ledger.sentRecords,
    storedRecords: row.records,
    rowsTwice: row.rows - row.records,
  }
}
