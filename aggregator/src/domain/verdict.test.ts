import { describe, expect, it } from 'vitest'
import { meterEvent } from '../../test/meter-event.ts'
import { decideVerdict } from './verdict.ts'

describe('decideVerdict', () => {
  it.each([
    ['a success without a key counts', { outcome: 'success' }, undefined, 'counted'],
    ['a paywall answer is kept, not counted', { outcome: 'paywall' }, undefined, 'not-counted'],
    ['a failure is kept, not counted', { outcome: 'fail' }, undefined, 'not-counted'],
    ['the first use of a key counts', { idempotencyKey: 'k' }, 7, 'counted'],
    ['a first use that failed is kept', { idempotencyKey: 'k', outcome: 'fail' }, 7, 'not-counted'],
    ['a later use is a duplicate', { idempotencyKey: 'k' }, 6, 'duplicate'],
    [
      'a duplicate of a failure is one too',
      { idempotencyKey: 'k', outcome: 'fail' },
      0,
      'duplicate',
    ],
  ] as const)('%s', (_, fields, firstOffset, kind) => {
    expect(decideVerdict(7, meterEvent(fields), firstOffset).kind).toBe(kind)
  })

  it('says where the first use is, and why a record does not count', () => {
    expect(decideVerdict(7, meterEvent({}), 3)).toEqual({ kind: 'duplicate', firstOffset: 3 })
    expect(decideVerdict(7, meterEvent({ outcome: 'fail' }), undefined)).toEqual({
      kind: 'not-counted',
      reason: 'fail',
    })
  })
})
