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

/** Redis and ClickHouse of an installation, read directly and not through its services. */
export type EngineStores = {
  readonly hotState: HotState
  /** Returns the customer's counted units in Redis. */
  readRedis(customerRef: string): Promise<number>
  /** Returns the sums in ClickHouse, by the customer reference that the usage was sent with. */
  readStored(): Promise<ReadonlyMap<string, StoredSums>>
  /** Returns the number of records in ClickHouse, without duplicates. */
  countStored(): Promise<number>
  close(): Promise<void>
}

/** Sums of a customer in ClickHouse. `units` and `rolledUp` are units. */
export type StoredSums = {
  readonly units: number
  readonly records: number
  readonly rows: number
  readonly rolledUp: number
}

export type EngineStoresOptions = {
  readonly sandboxKey: string
  readonly productRef: string
  readonly environment: Readonly<Record<string, string | undefined>>
  readonly partitionCount: number
}

const space = 'sandbox'
const microsPerUnit = 1_000_000n
/** Timeout in which the small engine behind the gateway sums some million rows. */
const requestTimeoutMs = 60_000

export async function openEngineStores(options: EngineStoresOptions): Promise<EngineStores> {
  const { environment, productRef } = options
  const config = readSettings({ ...hotStateSettings, ...clickHouseSettings }, environment)
  // Its messages are expected during chaos, so they are not logged.
  const logger = createLogger('chaos', 'silent')
  const hotState = await openHotState({ ...config, dataDir: '' }, 'reader', logger)
  const limits = { requestTimeoutMs, connectionsMax: 2 }
  const store = createClickHouseUsageStore(clickHouseConnection(config, limits))
  const close = async (): Promise<void> => {
    await hotState.close()
    await store.close()
  }
  try {
    const providerId = await providerOf(hotState, options.sandboxKey)
    return {
      hotState,
      readRedis: (customerRef) =>
        readUnitsInRedis(hotState, options, subjectKey(providerId, customerRef)),
      readStored: () => readStored(store, productRef),
      countStored: () => countStored(store, productRef),
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
  { productRef, partitionCount }: EngineStoresOptions,
  subject: string,
): Promise<number> {
  const partition = partitionOf(subject, partitionCount)
  const at = { space, partition, subject, scope: productRef }
  const { amounts } = await hotState.readEntry(at, requestsMeterName)
  const micros = [...amounts.values()].reduce((sum, amount) => sum + amount, 0n)
  return Number(micros / microsPerUnit)
}

async function readStored(
  store: UsageStore,
  productRef: string,
): Promise<ReadonlyMap<string, StoredSums>> {
  const records = await store.query<{
    customer_ref: string
    units: string
    records: string
    copies: string
  }>(
    `SELECT customer_ref, toString(sum(amount)) AS units, toString(count()) AS records,
       toString(sum(each)) AS copies
     FROM (SELECT customer_ref, id, any(value) AS amount, count() AS each
       FROM ${space}.usage_records WHERE product_ref = {productRef:String}
       GROUP BY customer_ref, id)
     GROUP BY customer_ref`,
    { productRef },
  )
  const rolledUp = await store.query<{ customer_ref: string; units: string }>(
    `SELECT customer_ref, toString(sum(value)) AS units FROM ${space}.usage_by_hour
     WHERE product_ref = {productRef:String} GROUP BY customer_ref`,
    { productRef },
  )
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

async function countStored(store: UsageStore, productRef: string): Promise<number> {
  const [row] = await store.query<{ records: string }>(
    `SELECT toString(uniqExact(id)) AS records FROM ${space}.usage_records
     WHERE product_ref = {productRef:String}`,
    { productRef },
  )
  return Number(row?.records ?? 0)
}
