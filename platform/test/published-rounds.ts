import { expect } from 'vitest'
import { sumSince } from '../src/hot-state/buckets.ts'
import type { HotState, Window } from '../src/hot-state/hot-state.ts'

/*
 * Record n of the partition is one use of 1, every second one without a scope, seven minutes after the previous one. After each
 * round of records, every scope is published with one more window, which counts the slots. Buckets of 30 days count them too.
 */

const roundsPartition = { space: 'live', partition: 1 }
const recordsPerRound = 200
const secondsPerRecord = 420
const firstSecond = 1_700_000_000
const monthly = { id: 'monthly', seconds: 30 * 86_400, offsetSeconds: 0, kept: 1_000 }
const scopes = ['prd_0', 'prd_1', 'prd_2']

function scopeOf(number: number): string {
  return number % 2 === 0 ? '' : scopes[number % scopes.length]!
}

/** Counts one round of records and returns the fence. */
export async function countRound(hot: HotState): Promise<number> {
  const { space, partition } = roundsPartition
  const offset = await hot.appliedOffset(space, partition)
  const nextOffset = offset + recordsPerRound
  const increments = Array.from({ length: recordsPerRound }, (_, index) => {
    const number = offset + index
    const use = { subject: 'ada', series: 'calls', amount: 1n }
    return { ...use, scope: scopeOf(number), second: firstSecond + number * secondsPerRecord }
  })
  await hot.apply({ space, partition, expectedOffset: offset, nextOffset, marks: [], increments })
  return nextOffset
}

export async function publishRounds(hot: HotState, fence: number): Promise<void> {
  const roundsTotal = fence / recordsPerRound
  const roundSeconds = recordsPerRound * secondsPerRecord
  const windows = Array.from({ length: roundsTotal }, (_, round): Window => {
    const fromSecond = firstSecond + round * roundSeconds
    return { id: `w${round}`, fromSecond, toSecond: fromSecond + roundSeconds }
  })
  const entry = { version: roundsTotal, document: `${roundsTotal}`, windows, buckets: [monthly] }
  await Promise.all(
    scopes.map(async (scope) => hot.putEntry({ ...roundsPartition, subject: 'ada', scope }, entry)),
  )
}

/** Publishes the expected entries, and compares the counts of each scope. */
export async function expectPublishedExact(hot: HotState): Promise<void> {
  const { space, partition } = roundsPartition
  const fence = await hot.appliedOffset(space, partition)
  await publishRounds(hot, fence)
  for (const scope of scopes) {
    const at = { ...roundsPartition, subject: 'ada', scope }
    const { amounts, buckets } = await hot.readEntry(at, 'calls')
    const counted = [...amounts.values()].reduce((sum, amount) => sum + amount, 0n)
    const numbers = Array.from({ length: fence }, (_, number) => scopeOf(number))
    const expected = numbers.filter((each) => each === '' || each === scope).length
    expect(counted).toBe(BigInt(expected))
    expect(sumSince(buckets?.get(monthly.id), 0)).toBe(BigInt(expected))
  }
}
