import { readStoreIncarnation } from '@tollgate/domain/stored-usage/store-incarnation'
import type { SlotLimits } from '@tollgate/platform/hot-state/hot-state'
import type { UsageStore } from '@tollgate/platform/usage-store/usage-store'
import {
  listMarkShares,
  listSlices,
  readDailySums,
  readStoredMarks,
  type Slice,
  type StoredRange,
  type UsageSum,
} from '../../clickhouse/stored-usage.ts'
import type { Partition } from '../partition-parts.ts'
import { patiently, type Failed } from './patiently.ts'
import { readSeconds } from './read-seconds.ts'
import { RestoreProgress, type Moved } from './restore-progress.ts'
import { Shadow } from './shadow.ts'

export type RestoreParts = Partition & {
  readonly usageStore: UsageStore
  /** Whether hot state has the windows of all customers of the partition. */
  readonly isPublished: (at: Partition) => Promise<boolean>
}

export type RestorePlan = {
  /** The counts of every record with a smaller offset are made here. */
  readonly offset: number
  /** Idempotency keys of records received since then are known again, Unix milliseconds. */
  readonly marksSinceMs: number
  /** What waits for no window any more. */
  readonly slotLimits: SlotLimits
}

/** What becomes of one piece. */
export type RestorePiece = Moved | Failed | { readonly kind: 'wait'; readonly waitMs: number }

export type Restore = AsyncGenerator<RestorePiece, 'restored' | 'fenced'>

const publishedWaitMs = 200
const marksPerStep = 5_000
const sumsPerStep = 2_000

/**
 * Makes the counts of one partition again from ClickHouse, in pieces: each `next()` does one. The order of effects:
 *
 *   1. marks: each that is missing is set, to the offset it always had. Repeated or cut short, that changes nothing.
 *      They come with steps of the shadow, so that marks lost meanwhile end the restore.
 *   2. the note that marks are complete up to the offset, also with a step: it cannot come into a state that has lost
 *      them. From here on the sink goes on storing, so that the log's tail stays short, and what it claims itself lies
 *      behind the offset.
 *      Then it waits until the customers' windows are published again: what falls into none is kept for as long as a
 *      slot is, and a year's window reaches further back.
 *   3. sums into a shadow that nobody reads, day by day where a day lies in one window, else second by second.
 *   4. the shadow becomes the counts in use and the fence the offset, in one step. The projection goes on from there.
 *
 * A call that fails is made again until it succeeds: queries change nothing, and a step that was taken already is only
 * answered. Killed anywhere before 4, nothing that is in use has changed, and the next restore begins a shadow of its
 * own; this one's is dropped. Two that run at the same time do not add up: the one that began later fences the other.
 *
 * Sums and log meet at the offset exactly: ClickHouse has every record before it, and those behind it are left out.
 */
export async function* restoreCounts(parts: RestoreParts, plan: RestorePlan): Restore {
  const { hotState, usageStore, environment, partition } = parts
  const range: StoredRange = { environment, partition, beforeOffset: plan.offset }
  const incarnation = yield* patiently(() => readStoreIncarnation(usageStore, environment))
  const slices = yield* patiently(() => listSlices(usageStore, range))
  const progress = new RestoreProgress(slices)
  const token = yield* patiently(() => hotState.beginRestore(environment, partition))
  const shadow = new Shadow(hotState, { space: environment, partition, token }, plan.slotLimits)
  for (const slice of slices) {
    if ((yield* restoreMarks(parts, plan, range, slice, shadow, progress)) === 'fenced') {
      return 'fenced'
    }
  }
  if ((yield* patiently(() => shadow.completeMarks(plan.offset))) === 'fenced') return 'fenced'
  while (!(yield* patiently(() => parts.isPublished(parts)))) {
    if ((yield* patiently(() => shadow.confirm())) === 'fenced') return 'fenced'
    yield { kind: 'wait', waitMs: publishedWaitMs }
  }
  for (const slice of slices) {
    if ((yield* restoreSums(parts, plan, range, slice, shadow, progress)) === 'fenced') {
      return 'fenced'
    }
  }
  // An older copy of ClickHouse may have been put in its place meanwhile: then some sums are of fewer records.
  if ((yield* patiently(() => readStoreIncarnation(usageStore, environment))) !== incarnation)
    return 'fenced'
  return yield* patiently(() => shadow.finish(plan.offset))
}

type Part = AsyncGenerator<Moved | Failed, 'fenced' | void>

async function* restoreMarks(
  { usageStore }: RestoreParts,
  { marksSinceMs }: RestorePlan,
  range: StoredRange,
  slice: Slice,
  shadow: Shadow,
  progress: RestoreProgress,
): Part {
  const shares = yield* patiently(() => listMarkShares(usageStore, range, slice, marksSinceMs))
  for (const share of shares) {
    const marks = yield* patiently(() =>
      readStoredMarks(usageStore, range, slice, marksSinceMs, share),
    )
    for (const some of chunks(marks, marksPerStep)) {
      if ((yield* patiently(() => shadow.mark(some))) === 'fenced') return 'fenced'
      yield progress.moved
    }
  }
  progress.add(slice)
}

async function* restoreSums(
  { usageStore }: RestoreParts,
  { slotLimits }: RestorePlan,
  range: StoredRange,
  slice: Slice,
  shadow: Shadow,
  progress: RestoreProgress,
): Part {
  const daily = yield* patiently(() => readDailySums(usageStore, range, slice))
  const left: UsageSum[] = []
  for (const some of chunks(daily, sumsPerStep)) {
    const notTaken = yield* patiently(() => shadow.add(slice, some))
    if (notTaken === 'fenced') return 'fenced'
    for (const index of notTaken.cut) left.push(some[index]!)
    for (const index of notTaken.outside) {
      if (some[index]!.lastSecond >= slotLimits.slotsBeforeSecond) left.push(some[index]!)
    }
    yield progress.moved
  }
  const paid = daily.filter(({ debit }) => debit > 0n)
  for (const some of chunks(paid, sumsPerStep)) {
    if ((yield* patiently(() => shadow.addDebits(slice, some))) === 'fenced') return 'fenced'
    yield progress.moved
  }
  for await (const read of readSeconds(usageStore, range, slice, left)) {
    if (read.kind === 'failed') {
      yield read
      continue
    }
    for (const some of chunks(read.sums, sumsPerStep)) {
      if ((yield* patiently(() => shadow.add(slice, some))) === 'fenced') return 'fenced'
      yield progress.moved
    }
  }
  progress.add(slice)
}

function* chunks<Item>(items: readonly Item[], size: number): Generator<readonly Item[]> {
  for (let from = 0; from < items.length; from += size) yield items.slice(from, from + size)
}
