import { randomBytes } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  keyedReservationReference,
  placeOfReservation,
  randomReservationReference,
  reservationUse,
  reservationUseText,
} from './reservation-reference.ts'

const place = { customerRef: 'cus_abcdefghijkl', productRef: 'prd_ABCDEFGHIJKL' }

describe('references of reservations', () => {
  it("contain the customer and the product, whatever the product's reference is", () => {
    const texts = fc.string({ unit: 'binary' })
    fc.assert(
      fc.property(texts, texts, texts, (customer, productRef, key) => {
        const at = { customerRef: customer.replaceAll('.', ''), productRef }
        expect(placeOfReservation(randomReservationReference(at, randomBytes))).toEqual(at)
        expect(placeOfReservation(keyedReservationReference('live', 'prv', at, key))).toEqual(at)
      }),
    )
  })

  it('are new at every call without a key', () => {
    const drawn = Array.from({ length: 100 }, () => randomReservationReference(place, randomBytes))
    expect(new Set(drawn).size).toBe(100)
    expect(drawn[0]).toMatch(/^rsv_[0-9A-HJKMNP-TV-Z]{26}\.cus_abcdefghijkl\.prd_ABCDEFGHIJKL$/)
  })

  it('are the same only for the same key', () => {
    const keyed = () => keyedReservationReference('live', 'prv', place, 'k')
    expect(keyed()).toBe(keyed())
    const others = [
      keyedReservationReference('sandbox', 'prv', place, 'k'),
      keyedReservationReference('live', 'prv2', place, 'k'),
      keyedReservationReference('live', 'prv', { ...place, customerRef: 'cus_b' }, 'k'),
      keyedReservationReference('live', 'prv', { ...place, productRef: 'prd_B' }, 'k'),
      keyedReservationReference('live', 'prv', place, 'k2'),
    ]
    const names = [keyed(), ...others].map((reference) => reference.slice(0, 30))
    expect(new Set(names).size).toBe(6)
  })

  it.each(['', 'rsv_', 'rsv_A', 'rsv_A.cus_a', 'usage_A.cus_a.prd_a', 'anything'])(
    'are distinguished from other texts: %j',
    (text) => expect(placeOfReservation(text)).toBeUndefined(),
  )
})

it('tells a record that uses a part of a reservation from one that ends it', () => {
  const id = 'rsv_1.cus_a.prd_a'
  expect(reservationUseText(id, undefined)).toBe(id)
  expect(reservationUseText(id, true)).toBe(id)
  for (const none of [undefined, '']) expect(reservationUseText(none, false)).toBeNull()
  const text = reservationUseText(id, false)!
  expect(reservationUse(text)).toEqual({ reservationId: id, isFinal: false })
  expect(reservationUse(id)).toEqual({ reservationId: id, isFinal: true })
  // A release that does not know the prefix leaves the reservation on hold.
  expect(placeOfReservation(text)).toBeUndefined()
})
