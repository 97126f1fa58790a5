import fc from 'fast-check'
import { expect, it } from 'vitest'
import { meterEvent } from '../../test/meter-event.ts'
import { cutBatch } from './cut-batch.ts'

const dayMs = 86_400_000

const anEvent = fc
  .record({
    providerId: fc.constantFrom('prov_1', 'prov_2'),
    meterName: fc.constantFrom('requests', 'tokens'),
    customerRef: fc.constantFrom('a', 'b', 'c', 'd', 'e'),
    timestamp: fc.constantFrom(0, dayMs - 1, dayMs, 2 * dayMs - 1, 20_000 * dayMs),
  })
  .map(meterEvent)

it('puts every record into exactly one piece, by provider, meter, day and customer', () => {
  fc.assert(
    fc.property(fc.array(anEvent), fc.integer({ min: 1, max: 4 }), (events, customersMax) => {
      const pieces = cutBatch(
        events.map((event, offset) => ({ offset, event })),
        customersMax,
      )
      const found = events.map((event) =>
        pieces.filter(
          (piece) =>
            piece.providerId === event.providerId &&
            piece.meterName === event.meterName &&
            piece.dayMs <= event.timestamp &&
            event.timestamp < piece.dayMs + dayMs &&
            piece.customerRefs.includes(event.customerRef),
        ),
      )
      for (const each of found) expect(each).toHaveLength(1)
      for (const piece of pieces) {
        expect(piece.customerRefs.length).toBeLessThanOrEqual(customersMax)
        expect(piece.recordTotal).toBe(found.filter(([of]) => of === piece).length)
        expect(piece.recordTotal).toBeGreaterThan(0)
      }
    }),
  )
})
