import fc from 'fast-check'
import { expect, it } from 'vitest'
import { decimalText } from './decimal-text.ts'

it.each([
  [0, '0'],
  [1, '0.000001'],
  [999_999, '0.999999'],
  [1_000_000, '1'],
  [1_500_000, '1.500000'],
  [-1, '-0.000001'],
  [9e15, '9000000000'],
  [8_999_999_999_999_999, '8999999999.999999'],
])('%d micros are %s', (micros, text) => {
  expect(decimalText(micros)).toBe(text)
})

it('reads back to the same micros', () => {
  fc.assert(
    fc.property(fc.integer({ min: -9e15, max: 9e15 }), (micros) => {
      const [whole, fraction = ''] = decimalText(micros).replace('-', '').split('.')
      const back = BigInt(`${whole}${fraction.padEnd(6, '0')}`)
      expect(back).toBe(BigInt(Math.abs(micros)))
    }),
  )
})
