import { readLogRange } from '@tollgate/domain/entitlements/read-log-range'
import { foldTail, foldTailDebits, type TailRecord } from '@tollgate/domain/entitlements/fold-tail'
import { UsageBehindError } from '@tollgate/domain/entitlements/usage-behind-error'
import type { EventLog, GroupPosition } from '@tollgate/platform/event-log/event-log'
import { requireComparedStore } from '@tollgate/domain/stored-usage/store-incarnation'
import type { UsageStore } from '@tollgate/platform/usage-store/usage-store'
import { sinkGroup } from '@tollgate/schemas/consumer-groups'
import { partitionOf, subjectKey } from '@tollgate/schemas/subject'
import { usageTopic } from '@tollgate/schemas/topics'
import {
  listStoredIds,
  sumStoredDebits,
  sumStoredUsageByWindow,
  type CustomerRecords,
  type CustomerUsage,
  type StoredPart,
} from '@tollgate/domain/stored-usage/query-stored-usage'

export type StoredUsageParts = {
  readonly eventLog: Pick<EventLog, 'partitionCount' | 'head' | 'oldest' | 'position' | 'read'>
  readonly usageStore: Pick<UsageStore, 'query'>
}

/** Records of the log, over all partitions, that may be read; more throw UsageBehindError. */
type TailLimit = { readonly tailRecordsMax: number }

/**
 * What a customer used in each of the windows, by their ids, in 10^-6 units, without the hot state: what ClickHouse has, and the rest from the
 * log. It includes everything that was acknowledged before the call, and nothing twice. The order makes it so:
 *
 *   1. the heads of the log: whatever was acknowledged before has a smaller offset.
 *   2. the sink's positions, after the heads. The sink moves its position when the rows before it are stored, so rows
 *      of smaller offsets are all there from now on, and none of them changes any more.
 *   3. in any order, rows before the position and records from the position to the head. The position cuts once for
 *      both: a row behind it, stored by a batch that is under way or by a sink that had lost its position, is left out,
 *      as the log has its record.
 *
 * A key counts where it was used first: a record of the log is a repeat when a row before the position has its id, or a
 * record before it in the log. Any row, of whatever meter, time and outcome.
 *
 * This tail is read for each request, and not shared like that of limit checks (shared-tails.ts). It begins at the
 * sink's position instead of the counters' fence, and what tells its repeated keys is ClickHouse, asked for the customer's
 * own records, since it serves while the marks of the hot state are away. Only records that mention the customer are
 * decoded and kept, and limit checks do this a bounded number at a time.
 *
 * Throws UsageBehindError when the log no longer has what is not stored, when that is more than may be read, and while a
 * ClickHouse that has restarted is not yet compared with the log.
 */
export async function readStoredUsage(
  parts: StoredUsageParts,
  query: CustomerUsage & TailLimit,
): Promise<Map<string, bigint>> {
  const { providerId, productRef, meterName, windows } = query
  const { sums, tails, marks } = await readBothSides(parts, query, (stored) =>
    sumStoredUsageByWindow(parts.usageStore, query, windows, stored),
  )
  const amounts = new Map(windows.map(({ id }, index) => [id, sums[index]!]))
  for (const { records, customerRefs } of tails) {
    const scope = { providerId, productRef, meterName, customerRefs, windows }
    for (const [id, amount] of foldTail(records, scope, marks)) {
      amounts.set(id, (amounts.get(id) ?? 0n) + amount)
    }
  }
  return amounts
}

/** What the wallet of a customer paid in all, 10^-6 credits; else as above. Asked of the customer's own reference. */
export async function readStoredDebits(
  parts: StoredUsageParts,
  query: CustomerRecords & TailLimit,
): Promise<bigint> {
  const { sums, tails, marks } = await readBothSides(parts, query, (stored) =>
    sumStoredDebits(parts.usageStore, query, stored),
  )
  return tails.reduce((sum, { records }) => sum + foldTailDebits(records, marks), sums)
}

type BothSides<Sums> = {
  readonly sums: Sums
  readonly tails: readonly Tail[]
  readonly marks: ReadonlyMap<string, number>
}

async function readBothSides<Sums>(
  parts: StoredUsageParts,
  query: CustomerRecords & TailLimit,
  sumStored: (stored: readonly StoredPart[]) => Promise<Sums>,
): Promise<BothSides<Sums>> {
  const stretches = await findStretches(parts, query)
  const recordsBehind = stretches.reduce((sum, { range }) => sum + lengthOf(range), 0)
  if (recordsBehind > query.tailRecordsMax) throw new UsageBehindError(recordsBehind)
  const stored = stretches.map(({ range }) => ({
    partition: range.partition,
    beforeOffset: range.fromOffset,
  }))
  const [sums, tails] = await Promise.all([
    sumStored(stored),
    readTails(parts, query.providerId, stretches),
  ])
  const marks = await markKnown(parts.usageStore, query, stored, tails)
  const notes = stretches.map(({ note }) => note)
  await requireComparedStore(parts.usageStore, query.environment, notes)
  return { sums, tails, marks }
}

/** What of one partition is not stored yet, and the customer's references that have their usage there. */
type Stretch = {
  readonly range: {
    readonly topic: string
    readonly partition: number
    readonly fromOffset: number
    readonly toOffset: number
  }
  readonly customerRefs: ReadonlySet<string>
  /** The sink's, beside the position that the range begins at. */
  readonly note: string
}

function lengthOf({ fromOffset, toOffset }: Stretch['range']): number {
  return Math.max(0, toOffset - fromOffset)
}

async function findStretches(
  { eventLog }: StoredUsageParts,
  { environment, providerId, customerRefs }: CustomerRecords,
): Promise<Stretch[]> {
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
      // The sink may have gone past the head that was read, but not past the log: then it is of another log.
      if (fromOffset > toOffset && fromOffset > (await eventLog.head(topic, partition))) {
        throw new UsageBehindError(toOffset)
      }
      return { range: { topic, partition, fromOffset, toOffset }, customerRefs: refs, note }
    }),
  )
}

/** Every record with a smaller offset is stored. */
async function storedPosition(
  log: StoredUsageParts['eventLog'],
  topic: string,
  partition: number,
): Promise<GroupPosition> {
  const { offset, note } = await log.position(sinkGroup, topic, partition)
  // Without a note no sink has begun, or its position was lost: what the log no longer has was stored before that.
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
  stretches: readonly Stretch[],
): Promise<Tail[]> {
  return Promise.all(
    stretches.map(async ({ range, customerRefs }) => ({
      records: await readLogRange(eventLog, range, { providerId, customerRefs }),
      customerRefs,
    })),
  )
}

/** Ids that were used before the log's tail, as marks whose offset no record of the tail has. */
async function markKnown(
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
