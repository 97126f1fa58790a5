import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { decideRetry } from './decide-retry.ts'

const now = new Date('2026-03-01T10:00:00Z')
const delays = { hours: [5, 24, 72], jitterMs: 600_000 }

describe('decideRetry', () => {
  test.each([
    [1, '2026-03-01T15:00:00Z'],
    [2, '2026-03-02T10:00:00Z'],
    [3, '2026-03-04T10:00:00Z'],
  ])('schedules the attempt after failure %i at %s', (failures, at) => {
    expect(decideRetry(failures, false, now, delays, 0)).toEqual({
      kind: 'retry',
      at: new Date(at),
    })
  })

  test('gives up after the last delay, and after a final failure', () => {
    expect(decideRetry(4, false, now, delays, 0)).toEqual({ kind: 'give-up' })
    expect(decideRetry(1, true, now, delays, 0)).toEqual({ kind: 'give-up' })
  })

  test('schedules each attempt at a whole second, never early and at most the jitter late', () => {
    const share = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true })
    fc.assert(
      fc.property(fc.constantFrom(1, 2, 3), share, (failures, part) => {
        const decision = decideRetry(failures, false, now, delays, part)
        if (decision.kind !== 'retry') throw new Error('no retry')
        const lateMs =
          decision.at.getTime() - now.getTime() - delays.hours[failures - 1]! * 3_600_000
        expect(lateMs).toBeGreaterThanOrEqual(0)
        expect(lateMs).toBeLessThan(delays.jitterMs)
        expect(lateMs % 1_000).toBe(0)
      }),
    )
  })
})
