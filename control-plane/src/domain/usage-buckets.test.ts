import { describe, expect, test } from 'vitest'
import fc from 'fast-check'
import { granularities, type Granularity } from '@tollgate/schemas/http/meters'
import { bucketsOf } from './usage-buckets.ts'

describe('bucketsOf', () => {
  test.each([
    ['hour', '2026-03-01T10:00Z', '2026-03-01T12:00Z', ['2026-03-01T10:00', '2026-03-01T11:00']],
    ['hour', '2026-03-01T10:30Z', '2026-03-01T11:10Z', ['2026-03-01T10:30', '2026-03-01T11:00']],
    [
      'day',
      '2026-02-27T00:00Z',
      '2026-03-02T00:00Z',
      ['2026-02-27T00:00', '2026-02-28T00:00', '2026-03-01T00:00'],
    ],
    [
      'week',
      '2026-03-04T00:00Z',
      '2026-03-17T00:00Z',
      ['2026-03-04T00:00', '2026-03-09T00:00', '2026-03-16T00:00'],
    ],
    ['month', '2026-01-31T00:00Z', '2026-03-01T00:00Z', ['2026-01-31T00:00', '2026-02-01T00:00']],
    ['month', '2026-03-01T00:00Z', '2026-03-01T00:00Z', []],
    ['month', '0099-12-15T10:00Z', '0100-01-02T00:00Z', ['0099-12-15T10:00', '0100-01-01T00:00']],
  ] as const)('returns each %s from %s to %s', (granularity, from, to, starts) => {
    const range = { startMs: Date.parse(from), endMs: Date.parse(to) }
    const buckets = bucketsOf(range, granularity, 100) ?? []
    expect(buckets.map(({ startMs }) => new Date(startMs).toISOString().slice(0, 16))).toEqual(
      starts,
    )
  })

  test('returns undefined above the limit, and not at it', () => {
    const range = { startMs: 0, endMs: 24 * 3_600_000 }
    expect(bucketsOf(range, 'hour', 24)).toHaveLength(24)
    expect(bucketsOf(range, 'hour', 23)).toBeUndefined()
  })

  test('covers the range without gaps', () => {
    const instant = fc.integer({ min: 0, max: 4_000_000_000_000 })
    const length = fc.integer({ min: 1, max: 100 * 86_400_000 })
    fc.assert(
      fc.property(
        fc.constantFrom<Granularity>(...granularities),
        instant,
        length,
        (granularity, startMs, ms) => {
          const range = { startMs, endMs: startMs + ms }
          const buckets = bucketsOf(range, granularity, 10_000) ?? []
          expect(buckets[0]?.startMs).toBe(range.startMs)
          expect(buckets.at(-1)?.endMs).toBe(range.endMs)
          buckets.slice(1).forEach((bucket, index) => {
            expect(bucket.startMs).toBe(buckets[index]?.endMs)
          })
        },
      ),
    )
  })
})
