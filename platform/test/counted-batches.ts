import type { CounterBatch, HotState } from '../src/hot-state/hot-state.ts'

/* Record n of the partition is one use of 1 by subject n % 50, keyed by the mark `id n`, every second one unscoped. */

export const countedPartition = { space: 'live', partition: 0 }
export const recordsPerBatch = 100

export function batchFrom(offset: number): CounterBatch {
  const numbers = Array.from({ length: recordsPerBatch }, (_, n) => offset + n)
  return {
    ...countedPartition,
    expectedOffset: offset,
    nextOffset: offset + recordsPerBatch,
    marks: numbers.map((n) => ({ id: `id ${n}`, offset: n, receivedAtMs: 1 })),
    increments: numbers.map((n) => {
      const scope = n % 2 === 0 ? '' : 'a'
      return { subject: `s${n % 50}`, scope, series: 'calls', second: 1 + (n % 100), amount: 1n }
    }),
  }
}

/** Applies as many batches, from the fence on; returns the new fence. */
export async function applyBatches(hot: HotState, count: number): Promise<number> {
  let offset = await hot.appliedOffset(countedPartition.space, countedPartition.partition)
  for (let n = 0; n < count; n += 1) offset = await applyBatch(hot, offset)
  return offset
}

/** Applies batches until a call fails; returns the offset up to which it was told that they are applied. */
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
  if (outcome !== 'applied') throw new Error('Somebody else applies')
  return offset + recordsPerBatch
}
