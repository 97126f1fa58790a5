import { describe, expect, it } from 'vitest'
import { meterEvent } from '../../test/meter-event.ts'
import { decideVerdict } from './verdict.ts'

describe('decideVerdict', () => {
  it.each([
    ['counts a success without a key', { outcome: 'success' }, undefined, 'counted'],
    [
      'stores a paywall outcome without counting it',
      { outcome: 'paywall' },
      undefined,
      'not-counted',
    ],
    ['stores a failure without counting it', { outcome: 'fail' }, undefined, 'not-counted'],
    ['counts the first use of a key', { idempotencyKey: 'k' }, 7, 'counted'],
    [
      'stores a first use that failed without counting it',
      { idempotencyKey: 'k', outcome: 'fail' },
      7,
      'not-counted',
    ],
    ['detects a later use as a duplicate', { idempotencyKey: 'k' }, 6, 'duplicate'],
    [
      'detects the duplicate of a failure',
      { idempotencyKey: 'k', outcome: 'fail' },
      0,
      'duplicate',
    ],
  ] as const)('%s', (_, fields, firstOffset, kind) => {
    expect(decideVerdict(7, meterEvent(fields), firstOffset).kind).toBe(kind)
  })

  it('returns the first offset of a duplicate, and the reason why a record does not count', () => {
    expect(decideVerdict(7, meterEvent({}), 3)).toEqual({ kind: 'duplicate', firstOffset: 3 })
    expect(decideVerdict(7, meterEvent({ outcome: 'fail' }), undefined)).toEqual({
      kind: 'not-counted',
      reason: 'fail',
    })
  })
})
