import fc from 'fast-check'
import { expect, it } from 'vitest'
import { addToSlots, dayOfMinute, decodeSlots, encodeSlots, minuteOf } from './slot-format.ts'

it('adds amounts of the same second', () => {
  const uses = fc.array(fc.tuple(fc.nat(59), fc.bigInt({ min: -(2n ** 100n), max: 2n ** 100n })))
  fc.assert(
    fc.property(fc.integer({ min: -1000, max: 1000 }), uses, (minute, added) => {
      const expected = new Map<number, bigint>()
      let slots: Buffer = Buffer.alloc(0)
      for (const [place, amount] of added) {
        const second = minute * 60 + place
        expected.set(second, (expected.get(second) ?? 0n) + amount)
        slots = addToSlots(slots, second, amount)
      }
      const decoded = decodeSlots(slots, minute)
      expect(new Map(decoded.map(({ second, amount }) => [second, amount]))).toEqual(expected)
      expect(encodeSlots(decoded).equals(slots)).toBe(true)
    }),
  )
})

it.each([
  [0, 0, 0],
  [59, 0, 0],
  [60, 1, 0],
  [-1, -1, -1],
  [86_399, 1439, 0],
  [86_400, 1440, 1],
])('assigns second %i to minute %i of day %i', (second, minute, day) => {
  expect(minuteOf(second)).toBe(minute)
  expect(dayOfMinute(minute)).toBe(day)
})
