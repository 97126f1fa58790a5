import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { GrowingBuffer } from './growing-buffer.ts'

/** A simple reference implementation. */
function lengthBytes(length: number): number[] {
  return length < 128 ? [length] : [(length % 128) + 128, ...lengthBytes(Math.floor(length / 128))]
}

function textBytes(text: string): Buffer {
  const bytes = Buffer.from(text)
  return Buffer.concat([Buffer.from(lengthBytes(bytes.length)), bytes])
}

function int64Bytes(value: number): Buffer {
  const bytes = Buffer.alloc(8)
  bytes.writeBigInt64LE(BigInt(value))
  return bytes
}

function bytesOf(write: (buffer: GrowingBuffer) => void): Buffer {
  const buffer = new GrowingBuffer()
  write(buffer)
  return Buffer.from(buffer.written())
}

describe('GrowingBuffer', () => {
  it('keeps all values while it grows, in any order', () => {
    const value = fc.oneof(
      fc.string({ unit: 'binary', maxLength: 300 }),
      fc.maxSafeInteger(),
      fc.bigInt({ min: 0n, max: 2n ** 32n - 1n }),
    )
    const used = new GrowingBuffer()
    fc.assert(
      fc.property(fc.array(value, { maxLength: 2_000, size: 'max' }), (values) => {
        used.clear()
        for (const each of values) {
          if (typeof each === 'string') used.writeText(each)
          else if (typeof each === 'number') used.writeInt64(each)
          else used.writeUInt32(Number(each))
        }
        const expected = values.map((each) => {
          if (typeof each === 'string') return textBytes(each)
          if (typeof each === 'number') return int64Bytes(each)
          return int64Bytes(Number(each)).subarray(0, 4)
        })
        expect(Buffer.concat(expected).equals(used.written())).toBe(true)
      }),
      { numRuns: 30 },
    )
  })

  it.each([0, 1, 47, 48, 49, 63, 64, 127, 128, 16_383, 16_384, 70_000])(
    'writes texts of %d characters',
    (length) => {
      for (const char of ['a', 'é', '語']) {
        const texts = [char.repeat(length), 'a'.repeat(length), `${'a'.repeat(length)}${char}`]
        const written = bytesOf((buffer) => texts.forEach((text) => buffer.writeText(text)))
        expect(Buffer.concat(texts.map(textBytes)).equals(written)).toBe(true)
      }
    },
  )

  it.each([0, 1, -1, 2 ** 31, 2 ** 32, -(2 ** 32), -(2 ** 32) - 1, 9e15, -9e15])(
    'writes %d in 64 bits',
    (value) => {
      for (const each of [
        value,
        Number.MAX_SAFE_INTEGER - value,
        Number.MIN_SAFE_INTEGER + value,
      ]) {
        if (!Number.isSafeInteger(each)) continue
        expect(bytesOf((buffer) => buffer.writeInt64(each))).toEqual(int64Bytes(each))
      }
    },
  )

  it('writes lengths with seven bits per byte', () => {
    for (const length of [0, 127, 128, 16_383, 16_384, 2 ** 31 - 1]) {
      const written = bytesOf((buffer) => buffer.writeLength(length))
      expect([...written]).toEqual(lengthBytes(length))
    }
  })

  it('repeats the last text, also while it grows', () => {
    for (const text of ['', 'ab', 'é'.repeat(40), 'x'.repeat(48), 'y'.repeat(30_000)]) {
      const written = bytesOf((buffer) => {
        buffer.writeText('before')
        buffer.writeText(text)
        for (let more = 0; more < 9; more += 1) buffer.repeatText()
      })
      const expected = ['before', ...Array.from({ length: 10 }, () => text)].map(textBytes)
      expect(Buffer.concat(expected).equals(written)).toBe(true)
    }
  })

  it('throws for numbers that do not fit the format', () => {
    const buffer = new GrowingBuffer()
    for (const value of [1.5, Number.NaN, Infinity, 2 ** 53]) {
      expect(() => buffer.writeInt64(value)).toThrow(RangeError)
    }
    for (const value of [-1, 0.5, 2 ** 32]) {
      expect(() => buffer.writeUInt32(value)).toThrow(RangeError)
    }
    expect(buffer.written()).toHaveLength(0)
  })
})
