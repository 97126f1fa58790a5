import { readLogRange } from '@tollgate/domain/entitlements/read-log-range'
import { foldTail, foldTailDebits, type TailRecord } from '@tollgate/domain/entitlements/fold-tail'
import { UsageBehindError } from '@tollgate/domain/entitlements/usage-behind-error'
import type { EventLog, GroupPosition } from '@tollgate/platform/event-log/event-log'
import { requireComparedStore } from '@tollgate/domain/stored-usage/store-incarnation'
import { totalsStampOf } from '@tollgate/domain/stored-usage/totalled-ranges'
import type { UsageStore } from '@tollgate/platform/usage-store/usage-store'
import { sinkGroup } from '@tollgate/schemas/consumer-groups'
import { partitionOf, subjectKey } from '@tollgate/schemas/subject'
import { usageTopic } from '@tollgate/schemas/topics'
import {
  listStoredIds,
  sumStoredDebits,
  sumStoredWindows,
  type CustomerRecords,
  type CustomerUsage,
  type StoredPart,
} from '@tollgate/domain/stored-usage/query-stored-usage'

export type StoredUsageParts = {
  readonly eventLog: Pick<EventLog, 'partitionCount' | 'head' | 'oldest' | 'position' | 'read'>
  readonly usageStore: Pick<UsageStore, 'query'>
}

/** Maximum number of log records, over all partitions, that one read may process. More records throw UsageBehindError. */
type TailLimit = { readonly tailRecordsMax: number }

/**
 * Returns what a customer used in each of the windows, by window id, in 10^-6 units, without the hot state. ClickHouse has the
 * stored records, and the log has the rest. The result includes every record that was acknowledged before the call, and no record
 * twice. The order of the reads guarantees this:
 *
 * 1. Read the heads of the log. Every record acknowledged before the call has a smaller offset.
 * 2. Read the sink's positions after the heads. The sink moves its position only after the rows before it are stored. Rows with
 * smaller offsets are therefore complete and do not change.
 * 3. In any order, read the rows before the position and the records from the position to the head. Both reads use the same
 * position. A row at or after it may come from a running batch, or from a sink that had lost its position. Such a row is skipped,
 * because the log has its record.
 *
 * An idempotency key counts at its first use. A record of the log is a repeat if a row before the position or an earlier record of
 * the log has its id, whatever the meter, time and outcome of that row.
 *
 * Each request reads this tail itself; limit checks share theirs (shared-tails.ts). The tail begins at the sink's position instead
 * of the counters' fence. ClickHouse finds the repeated keys among the customer's own records, because this function also serves
 * while the marks of the hot state are unavailable. Only records that mention the customer are decoded and kept, and only a limited
 * number of limit checks do this at a time.
 *
 * Throws UsageBehindError if the log no longer has records that are not stored, if there are more such records than may be read,
 * and while a restarted ClickHouse has not yet been compared with the log.
 */
export async function readStoredUsage(
  parts: StoredUsageParts,
  { meterName, windows, ...query }: CustomerUsage & TailLimit,
): Promise<ReadonlyMap<string, bigint>> {
  const [amounts] = await readStoredSeries(parts, { ...query, series: [{ meterName, windows }] })
  return amounts!
}

/** Usage of one meter in windows that do not overlap. */
export type StoredSeries = Pick<CustomerUsage, 'meterName' | 'windows'>

type SeriesQuery = Omit<CustomerUsage, 'meterName' | 'windows'> &
  TailLimit & {
    /** Windows of different series may overlap, also if their meter is the same. */
    readonly series: readonly StoredSeries[]
  }

/** Returns the same for each of several series, with one reading of ClickHouse and of the log. */
export async function readStoredSeries(
  parts: StoredUsageParts,
  query: SeriesQuery,
): Promise<ReadonlyMap<string, bigint>[]> {
  const { providerId, productRef, series } = query
  const asked = series.flatMap(({ meterName, windows }) =>
    windows.map((window) => ({ meterName, ...window })),
  )
  const { sums, tails, marks } = await readStoredAndTail(parts, query, (stored) =>
    sumStoredWindows(parts.usageStore, query, asked, stored),
  )
  let next = 0
  return series.map(({ meterName, windows }) => {
    const amounts = new Map(windows.map(({ id }) => [id, sums[next++]!]))
    for (const { records, customerRefs } of tails) {
      const scope = { providerId, productRef, meterName, customerRefs, windows }
      for (const [id, amount] of foldTail(records, scope, marks)) {
        amounts.set(id, (amounts.get(id) ?? 0n) + amount)
      }
    }
    return amounts
  })
}

/**
 * Returns what the customer's wallet paid in total, in 10^-6 credits, with the same guarantees as `readStoredUsage`. The query must
 * name the customer's own reference.
 */
export async function readStoredDebits(
  parts: StoredUsageParts,
  query: CustomerRecords & TailLimit,
): Promise<bigint> {
  const { sums, tails, marks } = await readStoredAndTail(parts, query, (stored) =>
    sumStoredDebits(parts.usageStore, query, stored),
  )
  return tails.reduce((sum, { records }) => sum + foldTailDebits(records, marks), sums)
}

type StoredAndTail<Sums> = {
  readonly sums: Sums
  readonly tails: readonly Tail[]
  readonly marks: ReadonlyMap<string, number>
}

async function readStoredAndTail<Sums>(
  parts: StoredUsageParts,
  query: CustomerRecords & TailLimit,
  sumStored: (stored: readonly StoredPart[]) => Promise<Sums>,
): Promise<StoredAndTail<Sums>> {
  const ranges = await findUnstoredRanges(parts, query)
  const recordsBehind = ranges.reduce((sum, { range }) => sum + lengthOf(range), 0)
  if (recordsBehind > query.tailRecordsMax) throw new UsageBehindError(recordsBehind)
  const stored = ranges.map(({ range, note }) => ({
    partition: range.partition,
    beforeOffset: range.fromOffset,
    totals: totalsStampOf(note),
  }))
  const [sums, tails] = await Promise.all([
    sumStored(stored),
    readTails(parts, query.providerId, ranges),
  ])
  const marks = await findKnownMarks(parts.usageStore, query, stored, tails)
  const notes = ranges.map(({ note }) => note)
  await requireComparedStore(parts.usageStore, query.environment, notes)
  return { sums, tails, marks }
}

/** The part of one partition that is not stored yet, and the references of the customer whose usage is in that partition. */
type UnstoredRange = {
  readonly range: {
    readonly topic: string
    readonly partition: number
    readonly fromOffset: number
    readonly toOffset: number
  }
  readonly customerRefs: ReadonlySet<string>
  /** Note that the sink stored with the position at which the range begins. */
  readonly note: string
}

function lengthOf({ fromOffset, toOffset }: UnstoredRange['range']): number {
  return Math.max(0, toOffset - fromOffset)
}

async function findUnstoredRanges(
  { eventLog }: StoredUsageParts,
  { environment, providerId, customerRefs }: CustomerRecords,
): Promise<UnstoredRange[]> {
  const topic = usageTopic(environment)
  const partitionCount = eventLog.partitionCount(topic)
  const references = new Map<number, Set<string>>()
  for (const reference of customerRefs) {
    const partition = partitionOf(subjectKey(providerId, reference), partitionCount)
    references.set(partition, (references.get(partition) ?? new Set()).add(reference))
  }
  const places = [...references].map(([partition, refs]) => ({ partition, customerRefs: refs }))
  const heads = await Promise.all(
    places.map(async ({ partition }) => eventLog.head(topic, partition)),
  )
  return await Promise.all(
    places.map(async ({ partition, customerRefs: refs }, index) => {
      const toOffset = heads[index]!
      const { offset: fromOffset, note } = await storedPosition(eventLog, topic, partition)
      // The sink may have passed the head that was read, but never the end of the log. If it has, its position belongs to a
      // different log.
      if (fromOffset > toOffset && fromOffset > (await eventLog.head(topic, partition))) {
        throw new UsageBehindError(toOffset)
      }
      return { range: { topic, partition, fromOffset, toOffset }, customerRefs: refs, note }
    }),
  )
}

/** Returns the position of the sink: every record with a smaller offset is stored. */
async function storedPosition(
  log: StoredUsageParts['eventLog'],
  topic: string,
  partition: number,
): Promise<GroupPosition> {
  const { offset, note } = await log.position(sinkGroup, topic, partition)
  // An empty note means that no sink has started, or that its position was lost. Records that the log no longer has were stored before.
  return note === ''
    ? { offset: Math.max(offset, await log.oldest(topic, partition)), note }
    : { offset, note }
}

type Tail = {
  readonly records: readonly TailRecord[]
  readonly customerRefs: ReadonlySet<string>
}

function readTails(
  { eventLog }: StoredUsageParts,
  providerId: string,
  ranges: readonly UnstoredRange[],
): Promise<Tail[]> {
  return Promise.all(
    ranges.map(async ({ range, customerRefs }) => ({
      records: await readLogRange(eventLog, range, { providerId, customerRefs }),
      customerRefs,
    })),
  )
}

/** Returns the ids that were used before the tail of the log. The offset of each mark is one that no record of the tail has. */
async function findKnownMarks(
  store: StoredUsageParts['usageStore'],
  query: CustomerRecords,
  stored: readonly StoredPart[],
  tails: readonly Tail[],
): Promise<Map<string, number>> {
  const keyed = tails
    .flatMap(({ records }) => records)
    .filter(({ event }) => event.idempotencyKey !== null)
  const ids = [...new Set(keyed.map(({ event }) => event.id))]
  const known = await listStoredIds(store, query, stored, ids)
  return new Map(known.map((id) => [id, -1]))
}
