import fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  attemptsMax,
  nextAttemptAt,
  parseRetryAfter,
  type RetrySchedule,
} from './retry-schedule.ts'

const [minute, hour] = [60, 3_600]
const delaysSeconds = [
  ...[5 * minute, 15 * minute, hour, 6 * hour, 24 * hour, 48 * hour],
  ...Array.from({ length: 5 }, () => 72 * hour),
]
const exact: RetrySchedule = { delaysSeconds, jitterPercent: 0 }
const failedAt = new Date('2026-03-01T10:00:00Z')

const secondsAfter = (at: Date | undefined) => at && (at.getTime() - failedAt.getTime()) / 1_000

test('makes 12 attempts with the configured delays between them', () => {
  expect(attemptsMax(exact)).toBe(12)
  const delays = Array.from({ length: 12 }, (_, failed) =>
    secondsAfter(nextAttemptAt(exact, failed + 1, failedAt, undefined, 0.5)),
  )
  expect(delays).toEqual([...delaysSeconds, undefined])
})

test.each([
  ['shorter than the delay', 1, 100, 5 * minute],
  ['longer than the delay', 1, 10 * minute, 10 * minute],
  ['longer than the next delay', 1, 16 * minute, 15 * minute],
  ['longer than the last delay', 11, 100 * hour, 72 * hour],
])('applies a Retry-After that is %s', (_, attempts, askedSeconds, waited) => {
  const at = nextAttemptAt(exact, attempts, failedAt, askedSeconds * 1_000, 0)
  expect(secondsAfter(at)).toBe(waited)
})

test('adds jitter of at most its percentage and at most 15 minutes, and never shortens a delay', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 11 }),
      fc.double({ min: 0, max: 0.999_999, noNaN: true }),
      fc.integer({ min: 0, max: 10 }),
      (attempts, random, jitterPercent) => {
        const at = nextAttemptAt(
          { delaysSeconds, jitterPercent },
          attempts,
          failedAt,
          undefined,
          random,
        )
        const delay = delaysSeconds[attempts - 1]!
        const added = secondsAfter(at)! - delay
        expect(added).toBeGreaterThanOrEqual(0)
        expect(added).toBeLessThanOrEqual(Math.min((delay * jitterPercent) / 100, 15 * minute))
      },
    ),
  )
})

test.each([
  ['120', 120_000],
  ['Sun, 01 Mar 2026 10:02:00 GMT', 120_000],
  ['Sun, 01 Mar 2026 09:00:00 GMT', undefined],
  ['0', undefined],
  ['-5', undefined],
  ['soon', undefined],
  ['99999999999999', undefined],
  [undefined, undefined],
])('parses Retry-After: %s', (text, ms) => {
  expect(parseRetryAfter(text, failedAt)).toBe(ms)
})
