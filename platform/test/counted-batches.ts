import type { CounterBatch, HotState, Span } from '../src/hot-state/hot-state.ts'
import { beginRestore } from '../src/testing/begun-restore.ts'

/*
 * Record n of the partition is one use of 1 by subject n % 50, with the mark `id n`; every second one is unscoped. It also counts 1
 * of the series `recent`, which no window contains.
 */

export const countedPartition = { space: 'live', partition: 0 }
export const recordsPerBatch = 100

/** Keeps everything for centuries. */
export const recentBuckets = { id: 'recent', seconds: 300 * 86_400, offsetSeconds: 0, kept: 1_000 }
const recentSecond = 1_790_000_000

export function batchFrom(offset: number): CounterBatch {
  const numbers = Array.from({ length: recordsPerBatch }, (_, n) => offset + n)
  return {
    ...countedPartition,
    expectedOffset: offset,
    nextOffset: offset + recordsPerBatch,
    marks: numbers.map((n) => ({ id: `id ${n}`, offset: n, receivedAtMs: 1 })),
    increments: numbers.flatMap((n) => {
      const use = { subject: `s${n % 50}`, scope: n % 2 === 0 ? '' : 'a', amount: 1n }
      return [
        { ...use, series: 'calls', second: 1 + (n % 100) },
        { ...use, series: 'recent', second: recentSecond + (n % 100) },
      ]
    }),
  }
}

/** Applies `count` batches from the fence on, and returns the new fence. */
export async function applyBatches(hot: HotState, count: number): Promise<number> {
  let offset = await hot.appliedOffset(countedPartition.space, countedPartition.partition)
  for (let n = 0; n < count; n += 1) offset = await applyBatch(hot, offset)
  return offset
}

/** Applies batches until a call fails. Returns the offset up to which batches were acknowledged. */
export async function applyUntilItFails(hot: HotState): Promise<number> {
  let offset = await hot.appliedOffset(countedPartition.space, countedPartition.partition)
  try {
    for (;;) offset = await applyBatch(hot, offset)
  } catch {
    return offset
  }
}

async function applyBatch(hot: HotState, offset: number): Promise<number> {
  const outcome = await hot.apply(batchFrom(offset))
  if (outcome !== 'applied') throw new Error('Another process applies batches')
  return offset + recordsPerBatch
}

/** Restores the counts of all records before `offset`, one batch of records per step. */
export async function restoreBatches(
  hot: HotState,
  offset: number,
): Promise<'restored' | 'fenced'> {
  const restore = await beginRestore(hot, countedPartition)
  for (let from = 0; from < offset; from += recordsPerBatch) {
    const spans = spansFrom(from)
    const notTaken = await restore.add(spans)
    if (notTaken === 'fenced') return 'fenced'
    const left = [...notTaken.cut, ...notTaken.outside].map((index) => spans[index]!)
    await restore.add(left.map((span) => ({ ...span, lastSecond: span.fromSecond })))
  }
  return await restore.finish(offset)
}

/** Returns every second record as a longer span. */
function spansFrom(offset: number): Span[] {
  return batchFrom(offset).increments.map(({ second, ...use }, n) => {
    return { ...use, fromSecond: second, lastSecond: second + (Math.floor(n / 2) % 2) }
  })
}

/** Applies and restores until a call fails. Reports its progress. */
export async function restoreUntilItFails(
  hot: HotState,
  say: (where: 'applied' | 'restoring') => void,
): Promise<void> {
  try {
    let applied = await applyBatches(hot, 20)
    for (;;) {
      say('restoring')
      if ((await restoreBatches(hot, applied)) === 'fenced')
        throw new Error('Another process restores')
      applied = await applyBatches(hot, 1)
      say('applied')
    }
  } catch {
    return
  }
}
