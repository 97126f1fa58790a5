import { expect, test } from 'vitest'
import { sumBilledUsage, type UsageLineRow } from './sum-billed-usage.ts'

const [june, july] = [new Date('2026-06-01T00:00:00Z'), new Date('2026-07-01T00:00:00Z')]

const line = (period_start: Date, kind: string, fields: Partial<UsageLineRow>): UsageLineRow => ({
  ...{ period_start, kind, used: '0', late: null, carried: '0', before: null, late_before: null },
  ...fields,
})

test('adds late usage to the usage of its period, but not its carried units', () => {
  const billed = sumBilledUsage([
    line(june, 'usage', { used: '10.5', carried: '2', before: '1' }),
    line(july, 'usage', { used: '7' }),
    line(june, 'late_usage', { used: '99', late: '0.25', carried: '9', late_before: '0.5' }),
    line(june, 'late_usage', { late: '1' }),
  ])
  expect(billed).toEqual(
    new Map([
      [
        june.getTime(),
        { usedMicros: 11_750_000n, carriedOverMicros: 2_000_000n, usedBeforeMicros: 1_500_000n },
      ],
      [july.getTime(), { usedMicros: 7_000_000n, carriedOverMicros: 0n, usedBeforeMicros: 0n }],
    ]),
  )
})

test('ignores late usage of a period that is not billed', () => {
  expect(sumBilledUsage([line(june, 'late_usage', { late: '1' })])).toEqual(new Map())
})
