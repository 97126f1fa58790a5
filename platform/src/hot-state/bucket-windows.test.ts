import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { rollingSecondsMax, rollingSecondsMin } from '@tollgate/schemas/limits'
import { bucketRangeAt, bucketSpecOf, type BucketWindow } from './bucket-windows.ts'
import { bucketAt, bucketToAddTo, checkBucketSpecs, sumSince, type BucketSpec } from './buckets.ts'

type Event = { readonly second: number; readonly amount: bigint }

/** 2026-11-26T12:00:00Z. */
const around = 1_795_694_400
const windowArbitrary: fc.Arbitrary<BucketWindow> = fc.oneof(
  fc
    .oneof(
      fc.integer({ min: rollingSecondsMin, max: rollingSecondsMax }),
      fc.constantFrom(60, 61, 99, 100, 101, 199, 200, 3_600, 18_000, 86_400, rollingSecondsMax),
    )
    .map((seconds) => ({ kind: 'rolling' as const, seconds })),
  fc.constantFrom('hour', 'day', 'week', 'month').map((kind): BucketWindow => ({ kind })),
)

/** Sums as a naive reader does that keeps every event. */
function usageWithin(events: readonly Event[], startSecond: number, endSecond: number): bigint {
  return events
    .filter(({ second }) => startSecond <= second && second < endSecond)
    .reduce((sum, { amount }) => sum + amount, 0n)
}

/** Sums by bucket, as hot state does at that time. */
function bucketsOf(events: readonly Event[], spec: BucketSpec, now: number): Map<number, bigint> {
  const buckets = new Map<number, bigint>()
  for (const { second, amount } of events) {
    const bucket = bucketToAddTo(spec, second, now)
    if (bucket !== undefined) buckets.set(bucket, (buckets.get(bucket) ?? 0n) + amount)
  }
  return buckets
}

describe('windows of buckets', () => {
  it('never count less than the window has, and at most one partial bucket more', () => {
    fc.assert(
      fc.property(
        windowArbitrary,
        fc.integer({ min: around, max: around + 40 * 86_400 }),
        fc.array(
          fc.record({
            back: fc.double({ min: -0.01, max: 2, noNaN: true }),
            amount: fc.bigInt(1n, 1_000n),
          }),
        ),
        (window, now, uses) => {
          const { fromBucket, startSecond, endSecond } = bucketRangeAt(window, now)
          const length = endSecond - startSecond
          const events = uses
            .map(({ back, amount }) => ({ second: now - Math.floor(back * length), amount }))
            .filter(({ second }) => second <= now)
          const spec = bucketSpecOf(window)
          const counted = sumSince(bucketsOf(events, spec, now), fromBucket)
          const actual = usageWithin(events, startSecond, endSecond)
          const bucketStart = fromBucket * spec.seconds + spec.offsetSeconds
          expect(counted).toBeGreaterThanOrEqual(actual)
          expect(counted - actual).toBe(usageWithin(events, bucketStart, startSecond))
          expect(startSecond - bucketStart).toBeLessThanOrEqual(length / 100)
          if (window.kind !== 'rolling') expect(bucketStart).toBe(startSecond)
        },
      ),
      { numRuns: 2_000 },
    )
  })

  it('keep every bucket that a reader needs whose clock is up to ten seconds behind', () => {
    fc.assert(
      fc.property(windowArbitrary, fc.nat(40 * 86_400), fc.nat(10), (window, later, behind) => {
        const now = around + later
        const spec = bucketSpecOf(window)
        const { fromBucket } = bucketRangeAt(window, now - behind)
        expect(fromBucket).toBeGreaterThan(bucketAt(spec, now) - spec.kept)
        expect(spec.kept).toBeLessThan(220)
      }),
    )
  })

  it('begin at the hour, the day, Monday and the first of the month in UTC', () => {
    const boundsOf = (kind: 'hour' | 'day' | 'week' | 'month', at: string): string[] => {
      const range = bucketRangeAt({ kind }, Date.parse(at) / 1_000)
      return [range.startSecond, range.endSecond].map((second) =>
        new Date(second * 1_000).toISOString().slice(0, 13),
      )
    }
    expect(boundsOf('hour', '2026-11-26T12:59:59Z')).toEqual(['2026-11-26T12', '2026-11-26T13'])
    expect(boundsOf('day', '2026-11-26T00:00:00Z')).toEqual(['2026-11-26T00', '2026-11-27T00'])
    expect(boundsOf('week', '2026-11-29T23:59:59Z')).toEqual(['2026-11-23T00', '2026-11-30T00'])
    expect(boundsOf('week', '2026-11-30T00:00:00Z')).toEqual(['2026-11-30T00', '2026-12-07T00'])
    expect(boundsOf('month', '2028-02-29T23:59:59Z')).toEqual(['2028-02-01T00', '2028-03-01T00'])
    expect(boundsOf('month', '2026-12-31T23:59:59Z')).toEqual(['2026-12-01T00', '2027-01-01T00'])
  })

  it.each([59, 60.5, rollingSecondsMax + 1, Number.NaN])('refuse %d rolling seconds', (seconds) => {
    expect(() => bucketSpecOf({ kind: 'rolling', seconds })).toThrow(RangeError)
  })
})

describe('bucket specs', () => {
  const hour = bucketSpecOf({ kind: 'hour' })

  it('are accepted for every window at once', () => {
    const windows = ['hour', 'day', 'week'].map((kind) => ({ kind }) as BucketWindow)
    checkBucketSpecs([...windows, { kind: 'rolling' as const, seconds: 18_000 }].map(bucketSpecOf))
  })

  it.each([
    ['two of one id', [hour, { ...hour, kept: 3 }]],
    ['too many', Array.from({ length: 33 }, (_, n) => ({ ...hour, id: `${n}` }))],
    ['no length', [{ ...hour, seconds: 0 }]],
    ['half a second', [{ ...hour, seconds: 0.5 }]],
    ['no whole offset', [{ ...hour, offsetSeconds: Number.NaN }]],
    ['nothing kept', [{ ...hour, kept: 0 }]],
    ['too many kept', [{ ...hour, kept: 1_001 }]],
  ])('are refused: %s', (_, specs) => {
    expect(() => checkBucketSpecs(specs)).toThrow(RangeError)
  })
})
