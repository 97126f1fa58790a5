import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { decodeRecordBatches, RecordBatchBuilder, RecordBatchFormatError } from './record-batch.ts'

const record = fc.record({
  key: fc.option(fc.string({ unit: 'grapheme' }), { nil: undefined }),
  value: fc.uint8Array({ maxLength: 300 }),
  timestampMs: fc.integer({ min: 0, max: 2 ** 51 }),
})
const batches = fc.array(fc.array(record, { minLength: 1, maxLength: 20 }), { maxLength: 5 })

type Given = { key: string | undefined; value: Uint8Array; timestampMs: number }

/** Encodes batches as a broker returns them: one after the other, each with its first offset. */
function stored(all: readonly (readonly Given[])[]): Buffer {
  let next = 0
  return Buffer.concat(
    all.map((records) => {
      const builder = new RecordBatchBuilder()
      for (const { key, value, timestampMs } of records) builder.add(key, value, timestampMs)
      const batch = Buffer.from(
        builder.finish({ producerId: '7', producerEpoch: 0, firstSequence: next }),
      )
      batch.writeBigInt64BE(BigInt(next))
      next += records.length
      return batch
    }),
  )
}

describe('record batches', () => {
  it('return every record from an offset on', () => {
    fc.assert(
      fc.property(batches, fc.nat(60), (all, fromOffset) => {
        const expected = all
          .flat()
          .map(({ value, timestampMs }, offset) => ({ offset, receivedAtMs: timestampMs, value }))
          .filter(({ offset }) => offset >= fromOffset)
        const found = decodeRecordBatches(stored(all), fromOffset)
        expect(found.map((each) => ({ ...each, value: new Uint8Array(each.value) }))).toEqual(
          expected,
        )
      }),
    )
  })

  it('omit the last batch if the fetch cut it off', () => {
    fc.assert(
      fc.property(batches, fc.nat(10_000), (all, cut) => {
        const bytes = stored(all)
        const found = decodeRecordBatches(bytes.subarray(0, cut % (bytes.byteLength + 1)), 0)
        const counts = all.map((_, index) => all.slice(0, index).flat().length)
        expect([...counts, all.flat().length]).toContain(found.length)
      }),
    )
  })

  it('are refused if they are compressed or in an old format', () => {
    const bytes = stored([[{ key: 'k', value: Buffer.from('v'), timestampMs: 1 }]])
    const compressed = Buffer.from(bytes)
    compressed.writeInt16BE(4, 21)
    expect(() => decodeRecordBatches(compressed, 0)).toThrow(RecordBatchFormatError)
    const old = Buffer.from(bytes)
    old.writeInt8(1, 16)
    expect(() => decodeRecordBatches(old, 0)).toThrow(RecordBatchFormatError)
  })
})
