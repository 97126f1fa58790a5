import { expect } from 'vitest'
import type { HotState } from '../src/hot-state/hot-state.ts'
import { sumSince } from '../src/hot-state/buckets.ts'
import { countedPartition, recentBuckets, recordsPerBatch } from './counted-batches.ts'

const subjects = Array.from({ length: 50 }, (_, n) => {
  return { ...countedPartition, subject: `s${n}`, scope: 'a' }
})

/**
 * Expects that fence, counters, buckets and marks belong to the same batches. Publishes the entries, so earlier usage is in slots. Returns
 * the fence.
 */
export async function expectExact(hot: HotState): Promise<number> {
  const { space, partition } = countedPartition
  const applied = await hot.appliedOffset(space, partition)
  const windows = [{ id: 'w', fromSecond: 0, toSecond: 1000 }]
  const entry = { version: 1, document: '{}', windows, buckets: [recentBuckets] }
  await Promise.all(subjects.map(async (at) => hot.putEntry(at, entry)))
  let total = 0n
  for (const at of subjects) total += (await hot.readEntry(at, 'calls')).amounts.get('w') ?? 0n
  expect(total).toBe(BigInt(applied))
  let recent = 0n
  for (const at of subjects) {
    const { buckets } = await hot.readEntry(at, 'recent')
    recent += sumSince(buckets?.get(recentBuckets.id), 0)
  }
  expect(recent).toBe(BigInt(applied))
  const ids = Array.from({ length: applied + recordsPerBatch }, (_, n) => `id ${n}`)
  const marks = await hot.readMarks(space, partition, ids)
  expect(marks.findIndex((offset, n) => offset !== (n < applied ? n : undefined))).toBe(-1)
  return applied
}
