import { expect, it } from 'vitest'
import { isStuck, noProgress, observeProgress } from './progress.ts'

const seen = (position: number, head: number, nowMs: number, oldestReceivedAtMs = 0) => ({
  position,
  head,
  nowMs,
  oldestReceivedAtMs,
})

it('is stuck if records wait and the position has not advanced for long enough', () => {
  const first = observeProgress(noProgress, seen(5, 10, 1_000))
  expect(isStuck(first, 99_000, 1_000)).toBe(false)
  const second = observeProgress(first, seen(5, 11, 2_000))
  expect(isStuck(second, 2_999, 1_000)).toBe(false)
  expect(isStuck(second, 3_000, 1_000)).toBe(true)
  const moved = observeProgress(second, seen(6, 12, 3_000))
  expect(isStuck(moved, 99_000, 1_000)).toBe(false)
})

it('is not stuck at the head of the log', () => {
  const before = observeProgress(noProgress, seen(5, 5, 0))
  const after = observeProgress(before, seen(5, 5, 1_000))
  expect(isStuck(after, 99_000, 1_000)).toBe(false)
  expect(after).toMatchObject({ lagMs: 0, lagRecords: 0 })
})

it('measures lag in records and as the age of the oldest one', () => {
  expect(observeProgress(noProgress, seen(5, 9, 1_000, 400))).toMatchObject({
    lagMs: 600,
    lagRecords: 4,
  })
  expect(observeProgress(noProgress, seen(5, 9, 1_000, 1_400)).lagMs).toBe(0)
})
