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
import { retryUntilSuccess, type Failed } from './retry-until-success.ts'
import { readSeconds } from './read-seconds.ts'
import { RestoreProgress, type Moved } from './restore-progress.ts'
import { Shadow } from './shadow.ts'

export type RestoreParts = Partition & {
  readonly usageStore: UsageStore
  /** Resolves with whether the hot state has the windows of all customers of the partition. */
  readonly isPublished: (at: Partition) => Promise<boolean>
}

export type RestorePlan = {
  /** The counts of every record with a smaller offset are rebuilt. */
  readonly offset: number
  /** Idempotency keys of records that were received since then are recognized again. Unix milliseconds. */
  readonly marksSinceMs: number
  /** Usage before these limits no longer waits for a window. */
  readonly slotLimits: SlotLimits
}

/** The result of one piece of the restore. */
export type RestorePiece = Moved | Failed | { readonly kind: 'wait'; readonly waitMs: number }

export type Restore = AsyncGenerator<RestorePiece, 'restored' | 'fenced'>

const publishedWaitMs = 200
const marksPerStep = 5_000
const sumsPerStep = 2_000

/**
 * Rebuilds the counts of one partition from ClickHouse in pieces. Each `next()` processes one. The order of effects is:
 *
 *  1. Marks: each missing mark is set to its original offset. Repeated or interrupted, this changes nothing. Marks are written
 *     together with steps of the shadow, so that a loss of marks meanwhile ends the restore.
 *  2. The note that marks are complete up to the offset, also together with a step. It therefore cannot be written to a hot state
 *     that has lost them. From here on the sink continues to store records, so that the tail of the log stays short, and the marks that
 *     it claims are after the offset. The restore then waits until the customers' windows are published again: usage outside of all
 *     windows is kept only as long as a slot, and a year's window reaches further back.
 *  3. Sums into a shadow that no reader uses: by day if a day lies in one window, otherwise by second.
 *  4. The shadow becomes the counts in use and the fence becomes the offset, in one step. The projection continues from there.
 *
 * A failed call is repeated until it succeeds: queries change nothing, and a step that was already applied only returns its result.
 * A crash before 4 leaves the counts in use unchanged; the next restore starts a new shadow, and this one is deleted. Two restores
 * at the same time do not add up: the later one fences the earlier one.
 *
 * Sums and log meet exactly at the offset: ClickHouse has every record before it, and later records are excluded.
 */
export async function* restoreCounts(parts: RestoreParts, plan: RestorePlan): Restore {
  const { hotState, usageStore, environment, partition } = parts
  const range: StoredRange = { environment, partition, beforeOffset: plan.offset }
  const incarnation = yield* retryUntilSuccess(() => readStoreIncarnation(usageStore, environment))
  const slices = yield* retryUntilSuccess(() => listSlices(usageStore, range))
  const progress = new RestoreProgress(slices)
  const token = yield* retryUntilSuccess(() => hotState.beginRestore(environment, partition))
  const shadow = new Shadow(hotState, { space: environment, partition, token }, plan.slotLimits)
  for (const slice of slices) {
    if ((yield* restoreMarks(parts, plan, range, slice, shadow, progress)) === 'fenced') {
      return 'fenced'
    }
  }
  if ((yield* retryUntilSuccess(() => shadow.completeMarks(plan.offset))) === 'fenced')
    return 'fenced'
  while (!(yield* retryUntilSuccess(() => parts.isPublished(parts)))) {
    if ((yield* retryUntilSuccess(() => shadow.confirm())) === 'fenced') return 'fenced'
    yield { kind: 'wait', waitMs: publishedWaitMs }
  }
  for (const slice of slices) {
    if ((yield* restoreSums(parts, plan, range, slice, shadow, progress)) === 'fenced') {
      return 'fenced'
    }
  }
  // An older copy of ClickHouse may have replaced it meanwhile. Then some sums lack records.
  if (
    (yield* retryUntilSuccess(() => readStoreIncarnation(usageStore, environment))) !== incarnation
  )
    return 'fenced'
  return yield* retryUntilSuccess(() => shadow.finish(plan.offset))
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
  const shares = yield* retryUntilSuccess(() =>
    listMarkShares(usageStore, range, slice, marksSinceMs),
  )
  for (const share of shares) {
    const marks = yield* retryUntilSuccess(() =>
      readStoredMarks(usageStore, range, slice, marksSinceMs, share),
    )
    for (const some of chunks(marks, marksPerStep)) {
      if ((yield* retryUntilSuccess(() => shadow.mark(some))) === 'fenced') return 'fenced'
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
  const daily = yield* retryUntilSuccess(() => readDailySums(usageStore, range, slice))
  const remaining: UsageSum[] = []
  // Events that no meter counts have a row without a meter.
  const counted = slice.meterName === '' ? [] : daily
  for (const some of chunks(counted, sumsPerStep)) {
    const rejected = yield* retryUntilSuccess(() => shadow.add(slice, some))
    if (rejected === 'fenced') return 'fenced'
    for (const index of rejected.cut) remaining.push(some[index]!)
    for (const index of rejected.outside) {
      if (some[index]!.lastSecond >= slotLimits.slotsBeforeSecond) remaining.push(some[index]!)
    }
    yield progress.moved
  }
  const paid = daily.filter(({ debit }) => debit !== 0n)
  for (const some of chunks(paid, sumsPerStep)) {
    if ((yield* retryUntilSuccess(() => shadow.addDebits(slice, some))) === 'fenced')
      return 'fenced'
    yield progress.moved
  }
  for await (const read of readSeconds(usageStore, range, slice, remaining)) {
    if (read.kind === 'failed') {
      yield read
      continue
    }
    for (const some of chunks(read.sums, sumsPerStep)) {
      if ((yield* retryUntilSuccess(() => shadow.add(slice, some))) === 'fenced') return 'fenced'
      yield progress.moved
    }
  }
  progress.add(slice)
}

function* chunks<Item>(items: readonly Item[], size: number): Generator<readonly Item[]> {
  for (let from = 0; from < items.length; from += size) yield items.slice(from, from + size)
}
