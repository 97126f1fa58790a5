import { usageSchema } from '@tollgate/schemas/http/usages'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { isEvent } from './bulk-events.ts'
import { usageEvent, type Receipt } from './usage-events.ts'

const receipt: Receipt = {
  holder: { providerId: 'prv_1', environment: 'sandbox' },
  receivedAtMs: Date.UTC(2026, 5, 1),
  randomReference: () => 'usage_RANDOM',
}

const build = (body: object) => {
  const built = usageEvent(usageSchema.parse(body), receipt)
  return isEvent(built) ? built : undefined
}

describe('the event of a usage call', () => {
  it('gets the time of receipt if the call has no timestamp', () => {
    expect(build({ customerRef: 'u' })).toMatchObject({
      timestamp: receipt.receivedAtMs,
      receivedAt: receipt.receivedAtMs,
      id: 'usage_RANDOM',
      value: 1_000_000,
    })
  })

  it('treats empty references as missing', () => {
    const empty = { productRef: '', purchaseRef: '', idempotencyKey: '' }
    expect(build({ customerRef: 'u', ...empty })).toMatchObject({
      productRef: null,
      purchaseRef: null,
      idempotencyKey: null,
      id: 'usage_RANDOM',
    })
  })

  it('has the same reference only for the same idempotency key', () => {
    const idOf = (body: object) => build(body)?.id
    const keyed = { customerRef: 'u', idempotencyKey: 'k' }
    expect(idOf(keyed)).toBe(idOf({ ...keyed, units: 5 }))
    expect(idOf(keyed)).not.toBe(idOf({ ...keyed, customerRef: 'v' }))
    expect(idOf(keyed)).not.toBe(idOf({ ...keyed, idempotencyKey: 'l' }))
  })

  it('stores all other fields of the call as properties', () => {
    const text = fc
      .string({ maxLength: 40, unit: 'grapheme' })
      .filter((value) => !value.includes('\0'))
    const optional = {
      productRef: text,
      purchaseRef: text,
      description: text,
      errorMessage: text,
      duration: fc.double({ min: 0, noNaN: true, noDefaultInfinity: true }),
      metadata: fc.dictionary(
        text.filter((key) => !['__proto__', 'constructor', 'prototype'].includes(key)),
        fc.oneof(text, fc.integer(), fc.boolean(), fc.constant(null)),
        { maxKeys: 5 },
      ),
    }
    fc.assert(
      fc.property(fc.record(optional, { requiredKeys: [] }), (given) => {
        const event = build({ customerRef: 'u', actionType: 'hour', outcome: 'fail', ...given })
        expect(JSON.parse(event!.properties)).toEqual(
          JSON.parse(JSON.stringify({ outcome: 'fail', actionType: 'hour', ...given })),
        )
      }),
    )
  })

  it.each([
    ['2026-06-02T00:00:00Z', true],
    ['2026-06-02T00:00:00.001Z', false],
    ['2026-05-02T00:00:00Z', true],
    ['2026-05-01T23:59:59.999Z', false],
    ['2026-06-02T02:00:00+02:00', true],
  ])('accepts the timestamp %s: %s', (timestamp, isAccepted) => {
    expect(build({ customerRef: 'u', timestamp }) !== undefined).toBe(isAccepted)
  })
})
