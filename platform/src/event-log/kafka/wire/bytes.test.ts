import fc from 'fast-check'
import { expect, it } from 'vitest'
import { ByteReader } from './byte-reader.ts'
import { ByteWriter, varintBytes } from './byte-writer.ts'

// Kafka's times and offsets are safe integers. Zigzag encoding doubles them, so the range of varints is smaller.
const offsets = fc.maxSafeInteger()
const deltas = fc.integer({ min: -(2 ** 51), max: 2 ** 51 })

it('reads the written values', () => {
  fc.assert(
    fc.property(offsets, deltas, fc.string({ unit: 'grapheme' }), (long, delta, text) => {
      const writer = new ByteWriter(1).int64(long).varint(delta).text(text).int16(-2).int8(3)
      const reader = new ByteReader(writer.bytes)
      expect([reader.int64(), reader.varint(), reader.text()]).toEqual([long, delta, text])
      expect([reader.int16(), reader.int8()]).toEqual([-2, 3])
      expect(reader.position).toBe(writer.length)
    }),
  )
})

it('computes the length of a varint', () => {
  fc.assert(
    fc.property(deltas, (delta) => {
      expect(varintBytes(delta)).toBe(new ByteWriter().varint(delta).length)
    }),
  )
})

it('writes long integers as two halves of a 64-bit one', () => {
  fc.assert(
    fc.property(offsets, (value) => {
      expect(new ByteWriter().int64(value).bytes.readBigInt64BE()).toBe(BigInt(value))
    }),
  )
})

it('throws when reading after the end', () => {
  const reader = new ByteReader(Buffer.from([0, 0, 0, 1, 9]), 0, 4)
  expect(reader.int32()).toBe(1)
  expect(() => reader.int8()).toThrow(RangeError)
})
