import { expect, test } from 'vitest'
import { formatAgo, formatDay, formatTime, formatUtc } from './times.ts'

const instant = '2026-03-01T02:30:05.125Z'
const text = (value: string) => value.replaceAll('\u202f', ' ')

test('an instant is shown in the zone, where it may be another day', () => {
  expect(formatDay(instant, 'UTC')).toBe('Mar 1, 2026')
  expect(formatDay(instant, 'America/New_York')).toBe('Feb 28, 2026')
  expect(text(formatTime(instant, 'America/New_York'))).toBe('Feb 28, 2026, 9:30 PM')
  expect(text(formatUtc(instant))).toBe('Mar 1, 2026, 2:30:05 AM UTC')
})

test.each([
  [-59_000, '59 seconds ago'],
  [-60_000, '1 minute ago'],
  [-3_599_000, '59 minutes ago'],
  [-3_600_000, '1 hour ago'],
  [-86_400_000, 'yesterday'],
  [3 * 86_400_000, 'in 3 days'],
])('a difference of %s ms is %s', (differenceMs, expected) => {
  const now = Date.parse(instant)
  expect(formatAgo(new Date(now + differenceMs).toISOString(), now)).toBe(expected)
})
