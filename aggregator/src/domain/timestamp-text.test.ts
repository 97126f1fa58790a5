import fc from 'fast-check'
import { expect, it } from 'vitest'
import { timestampText } from './timestamp-text.ts'

it('is the ISO text with a space and without the zone, for any instant the store takes', () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 4_102_444_799_999 }), (unixMs) => {
      const iso = new Date(unixMs).toISOString()
      expect(timestampText(unixMs)).toBe(iso.replace('T', ' ').replace('Z', ''))
    }),
  )
})

it.each([
  [0, '1970-01-01 00:00:00.000'],
  [951_782_400_000 - 1, '2000-02-28 23:59:59.999'],
  [951_782_400_000, '2000-02-29 00:00:00.000'],
])('%d is %s', (unixMs, text) => {
  expect(timestampText(unixMs)).toBe(text)
})
