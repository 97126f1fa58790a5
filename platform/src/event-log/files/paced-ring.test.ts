import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { PacedRing } from './paced-ring.ts'

beforeEach(() => {
  vi.useFakeTimers()
})
afterEach(() => {
  vi.useRealTimers()
})

it('rings at once, combines requests within the interval, and never loses the last one', () => {
  const rungAt: number[] = []
  const begun = performance.now()
  const ring = new PacedRing(() => rungAt.push(performance.now() - begun), 10)
  ring.request()
  expect(rungAt).toEqual([0])
  for (let ms = 1; ms <= 12; ms += 1) {
    vi.advanceTimersByTime(1)
    ring.request()
  }
  vi.advanceTimersByTime(100)
  expect(rungAt).toEqual([0, 11, 21])
  ring.request()
  expect(rungAt).toEqual([0, 11, 21, 112])
})

it('does not ring after it was stopped', () => {
  const ring = vi.fn()
  const paced = new PacedRing(ring, 10)
  paced.request()
  paced.request()
  paced.stop()
  vi.advanceTimersByTime(100)
  expect(ring).toHaveBeenCalledTimes(1)
})
