import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { decimalFromMicros, microsFromNumber, numberFromMicros } from './quantity.ts'

/** Returns decimal text by string operations only, which share no arithmetic with the code. */
function textOf(micros: bigint): string {
  const digits = (micros < 0n ? -micros : micros).toString().padStart(7, '0')
  return `${micros < 0n ? '-' : ''}${digits.slice(0, -6)}.${digits.slice(-6)}`
}

const fineMax = 2n ** 33n * 1_000_000n - 1n

describe('microsFromNumber', () => {
  it.each([
    [0, 0],
    [-0, 0],
    [1, 1_000_000],
    [0.1, 100_000],
    [0.000001, 1],
    [-0.000001, -1],
    [1.005, 1_005_000],
    [123456.789012, 123_456_789_012],
    [9e9, 9e15],
    [-9e9, -9e15],
    [8589934592.5, 8_589_934_592_500_000],
    // The products of these are half a micro off: only the neighbour divides back.
    [4294967296.000001, 4_294_967_296_000_001],
  ])('accepts %d', (value, micros) => {
    expect(microsFromNumber(value)).toBe(micros)
  })

  it.each([
    0.0000001,
    1.0000001,
    0.1 + 0.2,
    1e-300,
    Number.MIN_VALUE,
    9e9 + 0.00001,
    9000000001,
    2 ** 33 + 2 ** -19,
    Number.MAX_VALUE,
    Infinity,
    -Infinity,
    NaN,
  ])('refuses %d', (value) => {
    expect(microsFromNumber(value)).toBeUndefined()
  })

  it('converts every number below 2^33 with 6 decimals to exact micros', () => {
    const band = fc.bigInt({ min: 4_294_967_296_000_000n, max: 4_503_599_627_999_999n })
    const any = fc.bigInt({ min: -fineMax, max: fineMax })
    fc.assert(
      fc.property(fc.oneof(any, band), (micros) => {
        expect(microsFromNumber(Number(textOf(micros)))).toBe(Number(micros))
      }),
      { numRuns: 20_000 },
    )
  })

  it('refuses every number with more than 6 decimals', () => {
    const double = fc.double({ min: -(2 ** 33) + 1, max: 2 ** 33 - 1, noNaN: true })
    fc.assert(
      fc.property(double, (value) => {
        const isMeant = Number(value.toFixed(6)) === value
        expect(microsFromNumber(value) !== undefined).toBe(isMeant)
      }),
      { numRuns: 20_000 },
    )
  })

  it('accepts from 2^33 on exactly the multiples of 10^-6, which are those of 1/64', () => {
    const double = fc.integer({ min: 2 ** 33 * 64, max: 9e9 * 64 }).map((parts) => parts / 64)
    fc.assert(
      fc.property(double, fc.constantFrom(0, 2 ** -19, 2 ** -8), (value, off) => {
        const micros = microsFromNumber(value + off)
        if (off === 0) expect(decimalFromMicros(BigInt(micros!))).toBe(String(value))
        else expect(micros).toBeUndefined()
      }),
      { numRuns: 5_000 },
    )
  })
})

describe('the conversion from micros', () => {
  it('returns the original number', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: -fineMax, max: fineMax }), (micros) => {
        expect(numberFromMicros(micros)).toBe(Number(textOf(micros)))
        expect(microsFromNumber(numberFromMicros(micros))).toBe(Number(micros))
      }),
    )
  })

  it.each([
    [0n, '0'],
    [1n, '0.000001'],
    [-1n, '-0.000001'],
    [-1_500_000n, '-1.5'],
    [750_000_000n, '750'],
    [10n ** 30n, `1${'0'.repeat(24)}`],
  ])('writes %d as %s', (micros, text) => {
    expect(decimalFromMicros(micros)).toBe(text)
  })
})
