import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { PacedNotifier } from './paced-notifier.ts'

beforeEach(() => {
  vi.useFakeTimers()
})
afterEach(() => {
  vi.useRealTimers()
})

it('notifies at once, combines requests within the interval, and never loses the last one', () => {
  const notifiedAt: number[] = []
  const begun = performance.now()
  const notify = new PacedNotifier(() => notifiedAt.push(performance.now() - begun), 10)
  notify.request()
  expect(notifiedAt).toEqual([0])
  for (let ms = 1; ms <= 12; ms += 1) {
    vi.advanceTimersByTime(1)
    notify.request()
  }
  vi.advanceTimersByTime(100)
  expect(notifiedAt).toEqual([0, 11, 21])
  notify.request()
  expect(notifiedAt).toEqual([0, 11, 21, 112])
})

it('does not notify after it was stopped', () => {
  const notify = vi.fn()
  const paced = new PacedNotifier(notify, 10)
  paced.request()
  paced.request()
  paced.stop()
  vi.advanceTimersByTime(100)
  expect(notify).toHaveBeenCalledTimes(1)
})
