import { expect, test } from 'vitest'
import { periodsWithLateUsage, billedWindowOf } from './usage-windows.ts'

const at = (iso: string): Date => new Date(`2026-03-${iso}Z`)
const second = (iso: string): number => at(iso).getTime() / 1000
const purchase = { startDate: at('01T12:00:00') }

test.each([
  // The first period also counts 5 minutes before it, but nothing of the previous purchase.
  ['01T12:00:00', '31T12:00:00', undefined, '01T11:55:00', '31T12:00:00'],
  ['01T12:00:00', '31T12:00:00', '01T11:00:00', '01T11:55:00', '31T12:00:00'],
  ['01T12:00:00', '31T12:00:00', '01T11:58:30', '01T11:58:30', '31T12:00:00'],
  // The second in which a purchase ended belongs to it.
  ['01T12:00:00', '31T12:00:00', '01T12:00:00.400', '01T12:00:01', '31T12:00:00'],
  ['01T12:00:00', '01T12:00:00.900', '01T12:00:00.400', '01T12:00:01', '01T12:00:01'],
  ['01T12:00:00', '10T08:00:00.001', undefined, '01T11:55:00', '10T08:00:01'],
  ['02T12:00:00', '31T12:00:00', '01T11:58:30', '02T12:00:00', '31T12:00:00'],
])(
  'bills with the period from %s to %s, after a purchase until %s, the usage from %s to %s',
  (...texts) => {
    const [start, end, previous, from, to] = texts
    const endOfPrevious = previous === undefined ? undefined : at(previous)
    expect(billedWindowOf(purchase, { start: at(start), end: at(end) }, endOfPrevious)).toEqual({
      fromSecond: second(from),
      toSecond: second(to),
    })
  },
)

test('checks billed periods for late usage until a check after the last accepted record', () => {
  const dayMs = 86_400_000
  const week = (day: number, billedAt: string) => ({
    start: at(`0${day}T00:00:00`),
    end: at(`0${day + 1}T00:00:00`),
    invoiceRef: 'inv_1',
    billedAt: at(billedAt),
  })
  const billed = [week(5, '07T00:00:00'), week(4, '05T00:00:00'), week(3, '04T00:00:00')]
  expect(periodsWithLateUsage(billed, 1.5 * dayMs)).toEqual(billed.slice(0, 1))
  expect(periodsWithLateUsage(billed, 2.5 * dayMs)).toEqual(billed.slice(0, 2))
  expect(periodsWithLateUsage(billed, dayMs)).toEqual([])
  expect(periodsWithLateUsage([], dayMs)).toEqual([])
})
