import { expect, test } from 'vitest'
import { invoiceLine } from '../pricing/invoice-line.ts'
import { taxLines } from '../pricing/tax-line.ts'
import { decideUndoneUsage } from './decide-undone-usage.ts'

const start = new Date('2026-02-01T00:00:00Z')
const inputs = {
  kind: 'minimum',
  ...{ secondsCharged: 1, secondsInPeriod: 1, countedMinor: '0' },
  ...{ minimumMinor: '1000', billedMinor: '0' },
} as const
const usage = invoiceLine(inputs, 'usage', { start, end: new Date('2026-03-01T00:00:00Z') })
const rule = { treatment: 'standard', country: 'DE', ratePerMille: '190' } as const

test.each([
  ['added', false, 800n],
  ['contained', true, 762n],
])('credits the rest of usage whose refunds have %s tax', (_, isInclusive, left) => {
  const lines = [usage, ...taxLines([usage], { rule, isInclusive })]
  const later = { returnedMinor: 119n, creditableByPeriod: new Map([[start.getTime(), 900n]]) }
  const bill = { lines, credited: new Map(), later, pendingMinor: 119n }
  expect(decideUndoneUsage(bill)).toEqual([{ line: 0, amountMinor: left }])
})
