import fc from 'fast-check'
import { expect, test, vi } from 'vitest'
import { randomRuns } from '@tollgate/platform/testing/random-runs'
import { bucketsOf } from './usage-buckets.ts'
import { daysUntil, TimeZone, zonedBuckets } from './zoned-buckets.ts'

/** Zones whose clocks change at midnight or by half an hour, that skipped a day, or whose offset has minutes. */
const zones = [
  'UTC',
  'Europe/Paris',
  'America/New_York',
  'America/Sao_Paulo',
  'Asia/Beirut',
  'Asia/Kolkata',
  'Australia/Lord_Howe',
  'Pacific/Apia',
  'Africa/Cairo',
]
const zone = fc.constantFrom(...zones)
const instant = fc.integer({
  min: Date.parse('2009-01-01T00:00:00Z'),
  max: Date.parse('2030-01-01T00:00:00Z'),
})
const dayMs = 86_400_000

/** Returns the date as another part of the platform's library prints it. */
function dateIn(timeZone: string, atMs: number): string {
  return new Intl.DateTimeFormat('en-CA', { timeZone, dateStyle: 'short' }).format(atMs)
}

test('days of a time zone begin at the first instant of their date, and follow each other', () => {
  fc.assert(
    fc.property(zone, instant, fc.integer({ min: 1, max: 40 }), (name, at, count) => {
      const days = daysUntil(at, count, new TimeZone(name))
      expect(days).toHaveLength(count)
      expect(days.at(-1)).toMatchObject({ date: dateIn(name, at) })
      for (const [index, { date, startMs, endMs }] of days.entries()) {
        // Samoa has no 30 December 2011, whose start is that of the next day.
        if (name === 'Pacific/Apia' && startMs === endMs) continue
        expect([dateIn(name, startMs), dateIn(name, endMs - 1)]).toEqual([date, date])
        expect(dateIn(name, startMs - 1) < date).toBe(true)
        expect(days[index + 1]?.startMs ?? endMs).toBe(endMs)
      }
    }),
    randomRuns(100),
  )
})

test('buckets of UTC are those of queries without a time zone', () => {
  const granularity = fc.constantFrom('hour', 'day', 'week', 'month' as const)
  fc.assert(
    fc.property(instant, fc.nat(90 * dayMs), granularity, (startMs, length, each) => {
      const range = { startMs, endMs: startMs + length }
      expect(zonedBuckets(range, each, new TimeZone('UTC'), 5_000)).toEqual(
        bucketsOf(range, each, 5_000),
      )
    }),
    randomRuns(100),
  )
})

test('weeks and months of a time zone begin on Mondays and on first days', () => {
  fc.assert(
    fc.property(
      zone,
      instant,
      fc.constantFrom('week', 'month' as const),
      (name, startMs, granularity) => {
        const range = { startMs, endMs: startMs + 200 * dayMs }
        const buckets = zonedBuckets(range, granularity, new TimeZone(name), 100)!
        expect([buckets[0]!.startMs, buckets.at(-1)!.endMs]).toEqual([range.startMs, range.endMs])
        for (const [index, bucket] of buckets.slice(1).entries()) {
          expect(bucket.startMs).toBe(buckets[index]!.endMs)
          const date = new Date(`${dateIn(name, bucket.startMs)}T00:00:00Z`)
          const isFirst = granularity === 'week' ? date.getUTCDay() === 1 : date.getUTCDate() === 1
          expect(isFirst).toBe(true)
          expect(dateIn(name, bucket.startMs - 1)).not.toBe(dateIn(name, bucket.startMs))
        }
      },
    ),
    randomRuns(100),
  )
})

test('more buckets than the maximum are refused', () => {
  const range = { startMs: 0, endMs: 3 * dayMs }
  expect(zonedBuckets(range, 'day', new TimeZone('UTC'), 3)).toHaveLength(3)
  expect(zonedBuckets(range, 'day', new TimeZone('UTC'), 2)).toBeUndefined()
})

test('far too many buckets are refused without computing them', () => {
  const format = vi.spyOn(Intl.DateTimeFormat.prototype, 'formatToParts')
  const range = { startMs: Date.UTC(0, 0, 1), endMs: Date.UTC(9999, 0, 1) }
  for (const granularity of ['hour', 'day', 'week', 'month'] as const) {
    expect(zonedBuckets(range, granularity, new TimeZone('Asia/Kolkata'), 10_000)).toBeUndefined()
  }
  expect(format).not.toHaveBeenCalled()
  format.mockRestore()
})

test.each([
  ['europe/berlin', 'Europe/Berlin'],
  ['AMERICA/NEW_YORK', 'America/New_York'],
  ['UTC', 'UTC'],
])('the name of %s is %s', (name, exact) => {
  expect(new TimeZone(name).name).toBe(exact)
})
