import { expect, test } from 'vitest'
import { addDays, dayIn, isDay, lastDays } from './days.ts'

const newYear = Date.parse('2026-01-01T02:30:00Z')

test('the day of an instant is that of the time zone', () => {
  expect(dayIn('UTC', newYear)).toBe('2026-01-01')
  expect(dayIn('America/New_York', newYear)).toBe('2025-12-31')
  expect(dayIn('Pacific/Kiritimati', Date.parse('2026-12-31T10:00:00Z'))).toBe('2027-01-01')
})

test('the last days end with today', () => {
  expect(lastDays(1, 'UTC', newYear)).toEqual({ from: '2026-01-01', to: '2026-01-02' })
  expect(lastDays(30, 'America/New_York', newYear)).toEqual({
    from: '2025-12-02',
    to: '2026-01-01',
  })
})

test('days are counted across months, leap days and changes of the clock', () => {
  expect(addDays('2024-02-28', 1)).toBe('2024-02-29')
  expect(addDays('2026-03-29', 1)).toBe('2026-03-30')
  expect(addDays('2026-01-01', -1)).toBe('2025-12-31')
})

test('only days of the calendar are days', () => {
  expect(isDay('2026-02-28')).toBe(true)
  for (const text of ['2026-02-29', '2026-2-8', '2026-02-28T00:00:00Z', '', '0000-00-00']) {
    expect(isDay(text), text).toBe(false)
  }
})
