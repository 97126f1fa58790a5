import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { parseSchedule } from './schedule.ts'

describe('the latest slot of a schedule', () => {
  test.each([
    ['0 8 * * *', '2026-02-01T08:00:00.000Z', '2026-02-01T08:00:00.000Z'],
    ['0 8 * * *', '2026-02-01T07:59:59.999Z', '2026-01-31T08:00:00.000Z'],
    ['0 8 * * *', '2026-02-01T08:00:00.001Z', '2026-02-01T08:00:00.000Z'],
    ['*/30 * * * *', '2026-01-01T00:10:00Z', '2026-01-01T00:00:00.000Z'],
    ['0 11 1 * *', '2026-03-01T10:59:00Z', '2026-02-01T11:00:00.000Z'],
    ['0 0 29 2 *', '2026-01-01T00:00:00Z', '2024-02-29T00:00:00.000Z'],
  ])('%s at %s', (pattern, now, slot) => {
    expect(parseSchedule(pattern).latestSlot(new Date(now)).toISOString()).toBe(slot)
  })

  test('is today at that minute or yesterday, in UTC', () => {
    const minuteMs = 60_000
    const dayMs = 86_400_000
    fc.assert(
      fc.property(
        fc.nat(23),
        fc.nat(59),
        fc.integer({ min: 0, max: 4_000_000_000_000 }),
        (hour, minute, nowMs) => {
          const todays = Math.floor(nowMs / dayMs) * dayMs + (hour * 60 + minute) * minuteMs
          const expected = todays <= nowMs ? todays : todays - dayMs
          fc.pre(expected >= 0)
          const schedule = parseSchedule(`${minute} ${hour} * * *`)
          expect(schedule.latestSlot(new Date(nowMs)).getTime()).toBe(expected)
        },
      ),
      { numRuns: 300 },
    )
  })

  test.each(['x', '61 * * * *', '', '0 0 30 2 *'])('refuses the pattern %j', (pattern) => {
    expect(() => parseSchedule(pattern)).toThrow()
  })
})

describe('the next slot of a schedule', () => {
  test.each([
    ['0 8 * * *', '2026-02-01T08:00:00.000Z', '2026-02-01T08:00:00.000Z'],
    ['0 8 * * *', '2026-02-01T08:00:00.001Z', '2026-02-02T08:00:00.000Z'],
    ['0 8 * * *', '2026-02-01T07:59:59.999Z', '2026-02-01T08:00:00.000Z'],
    ['*/5 * * * *', '2026-12-31T23:56:00Z', '2027-01-01T00:00:00.000Z'],
    ['0 0 29 2 *', '2026-01-01T00:00:00Z', '2028-02-29T00:00:00.000Z'],
  ])('%s at %s', (pattern, instant, slot) => {
    expect(parseSchedule(pattern).nextSlot(new Date(instant)).toISOString()).toBe(slot)
  })
})
