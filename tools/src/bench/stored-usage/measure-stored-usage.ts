import { nameStoreIncarnation } from '@tollgate/aggregator/consume/store-check'
import { stepTotals, type TotalsParts } from '@tollgate/aggregator/consume/step-totals'
import { sumRolledUpByBucket } from '@tollgate/control-plane/usage/query-rolled-up-usage'
import { sumUsageByBucket } from '@tollgate/control-plane/usage/query-usage'
import {
  sumStoredDebits,
  sumStoredUsageByWindow,
  type StoredPart,
} from '@tollgate/domain/stored-usage/query-stored-usage'
import type { UsageStore } from '@tollgate/platform/usage-store/usage-store'
import { firstNote, writeSinkNote } from '@tollgate/schemas/sink-note'
import { usageTopic } from '@tollgate/schemas/topics'
import { median } from '../../load/statistics.ts'
import { endOfPartition0, generated, type RecordMix } from './generate-records.ts'

export type StoredUsageOptions = { readonly repeats: number; readonly totalsRange: number }

type MeasuredQuery = {
  readonly name: string
  readonly result: string
  /** Median. */
  readonly seconds: number
  /** Rows that ClickHouse reads, as it estimates from its indexes. */
  readonly rowsRead: number
  /** Maximum memory of ClickHouse. Undefined if its process is unknown. */
  readonly memoryMiB: number | undefined
}

export type StoredUsageResult = {
  readonly queries: readonly MeasuredQuery[]
  /** Parts of the table of records. The more there are, the more FINAL has to merge. */
  readonly recordParts: number
  readonly totals: {
    readonly ranges: number
    readonly records: number
    readonly seconds: number
    readonly rows: number
    readonly memoryMiB: number | undefined
  }
}

const { environment, providerId, customerRef, productRef, meterName } = generated
const customer = { environment, providerId, customerRefs: [customerRef] } as const
/** The bounds of a period cut hours, as those of nearly all purchases do. */
const period = { fromSecond: generated.startSecond + 1_234, toSecond: generated.endSecond - 1_234 }
const days = {
  startMs: generated.startSecond * 1_000,
  endMs: generated.endSecond * 1_000,
} as const
const topic = usageTopic(environment)
const generation = 'bench'

/**
 * Measures queries of one customer's usage that read every record, then makes totals of partition 0, and measures the queries that
 * read totals.
 */
export async function measureStoredUsage(
  store: UsageStore,
  mix: RecordMix,
  options: StoredUsageOptions,
  takeMemoryMiB: () => number | undefined,
  print: (line: string) => void,
): Promise<StoredUsageResult> {
  const end = endOfPartition0(mix)
  const incarnation = await nameStoreIncarnation(store, environment)
  const rows: StoredPart = { partition: 0, beforeOffset: end }
  const withTotals: StoredPart = { ...rows, totals: { generation, incarnation } }
  const measure = (name: string, query: Query) =>
    measureQuery(store, name, query, options.repeats, takeMemoryMiB)
  const ofPeriod = (part: StoredPart): Query => {
    const query = { ...customer, productRef, meterName }
    return async (usageStore) =>
      String(await sumStoredUsageByWindow(usageStore, query, [period], [part]))
  }
  const ofDebits = (part: StoredPart): Query => {
    return async (usageStore) => String(await sumStoredDebits(usageStore, customer, [part]))
  }

  print('measuring queries ...')
  const recordParts = await countParts(store)
  const before = [
    await measure('bill, row by row', ofPeriod(rows)),
    await measure('debits, row by row', ofDebits(rows)),
    await measure('chart of the portal, by day', chart),
  ]
  print('making totals ...')
  const parts = totalsParts(store, options.totalsRange, end, incarnation)
  const totals = await makeTotals(store, parts, takeMemoryMiB, print)
  const after = [
    await measure('bill, with totals', ofPeriod(withTotals)),
    await measure('debits, with totals', ofDebits(withTotals)),
    // It is measured last, because ClickHouse keeps the memory that it needs.
    await measure('usage query of the API, by day', usageQuery),
  ]
  requireEqual(before[0]!, after[0]!)
  return { queries: [...before, ...after], recordParts, totals }
}

type Query = (store: Pick<UsageStore, 'query'>) => Promise<string>

const usageQuery: Query = async (store) => {
  const query = {
    environment,
    providerId,
    meterName,
    aggregation: 'sum',
    customerRefs: [customerRef],
    range: days,
    outcome: 'success',
    filter: undefined,
  } as const
  return (await sumUsageByBucket(store, query, 'day')).whole.total
}

const chart: Query = async (store) => {
  const query = {
    environment,
    providerId,
    meterName,
    productRefs: [productRef],
    customerRefs: [customerRef],
    range: days,
  }
  return (await sumRolledUpByBucket(store, query, 'day')).whole.total
}

async function measureQuery(
  store: UsageStore,
  name: string,
  query: Query,
  repeats: number,
  takeMemoryMiB: () => number | undefined,
): Promise<MeasuredQuery> {
  takeMemoryMiB()
  const seconds: number[] = []
  let result = ''
  for (let round = 0; round < repeats; round += 1) {
    const startedAtMs = performance.now()
    result = await query(store)
    seconds.push((performance.now() - startedAtMs) / 1_000)
  }
  const memoryMiB = takeMemoryMiB()
  let rowsRead = 0
  await query({
    query: async (statement, parameters) => {
      rowsRead += await estimateRows(store, statement, parameters)
      return store.query(statement, parameters)
    },
  })
  return { name, result, seconds: median(seconds), rowsRead, memoryMiB }
}

async function estimateRows(
  store: UsageStore,
  statement: string,
  parameters: Readonly<Record<string, unknown>> | undefined,
): Promise<number> {
  const tables = await store.query<{ rows: string }>(`EXPLAIN ESTIMATE ${statement}`, parameters)
  return tables.reduce((sum, { rows }) => sum + Number(rows), 0)
}

/** The generated records are in no log, so this position stands in place of the sink's. */
function totalsParts(
  usageStore: UsageStore,
  rangeRecords: number,
  offset: number,
  comparedIncarnation: string,
): TotalsParts {
  const note = writeSinkNote({ ...firstNote(generation), generation, comparedIncarnation })
  const log = { position: async () => ({ offset, note }) }
  return { log, usageStore, cluster: undefined, environment, topic, partition: 0, rangeRecords }
}

async function makeTotals(
  store: UsageStore,
  parts: TotalsParts,
  takeMemoryMiB: () => number | undefined,
  print: (line: string) => void,
): Promise<StoredUsageResult['totals']> {
  takeMemoryMiB()
  const startedAtMs = performance.now()
  let ranges = 0
  let records = 0
  for (;;) {
    const step = await stepTotals(parts)
    if (step.kind === 'complete') break
    if (step.kind !== 'totalled') throw new Error(`Totals could not be made: ${step.kind}`)
    ranges += 1
    records += step.toOffset - step.fromOffset
    print(`totals of ${records} records, ${step.waitingRecords} to go`)
  }
  const seconds = (performance.now() - startedAtMs) / 1_000
  const [row] = await store.query<{ rows: string }>(
    `SELECT toString(count()) AS rows FROM ${environment}.usage_totals`,
  )
  return { ranges, records, seconds, rows: Number(row?.rows ?? '0'), memoryMiB: takeMemoryMiB() }
}

async function countParts(store: UsageStore): Promise<number> {
  const [row] = await store.query<{ parts: string }>(
    `SELECT toString(count()) AS parts FROM system.parts
     WHERE active AND database = {database:String} AND table LIKE 'usage_records%'`,
    { database: environment },
  )
  return Number(row?.parts ?? '0')
}

function requireEqual(before: MeasuredQuery, after: MeasuredQuery): void {
  if (before.result === after.result) return
  throw new Error(`The bill is ${after.result} with totals and ${before.result} without.`)
}
