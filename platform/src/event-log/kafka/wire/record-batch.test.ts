import fc from 'fast-check'
import { compress as compressSnappy } from 'snappyjs'
import { gzipSync } from 'node:zlib'
import { beforeAll, describe, expect, it } from 'vitest'
import { codecIds } from './codecs.ts'
import { compressionOf, type Compression } from './compress.ts'
import { crc32c } from './crc32c.ts'
import { decodeRecordBatches, RecordBatchBuilder, RecordBatchFormatError } from './record-batch.ts'
import { canCompressZstd, loadZstd } from './zstd.ts'

const bytesMax = 1_000_000
const attributesAt = 21
const headerBytes = 61

/** One block without framing, as librdkafka writes it. */
const plainSnappy: Compression = {
  codecId: codecIds.snappy,
  compress: (records) => compressSnappy(records),
}
/** Blocks with the framing of Java's clients. */
const framedSnappy: Compression = {
  codecId: codecIds.snappy,
  compress(records) {
    const parts = [Buffer.from('82534e41505059000000000100000001', 'hex')]
    for (let at = 0; at < records.byteLength; at += 1_000) {
      const block = compressSnappy(Buffer.from(records.subarray(at, at + 1_000)))
      const length = Buffer.alloc(4)
      length.writeInt32BE(block.byteLength)
      parts.push(length, block)
    }
    return Buffer.concat(parts)
  },
}
const compressions: readonly (readonly [string, Compression | undefined])[] = [
  ['no codec', undefined],
  ['gzip', compressionOf('gzip')],
  ['lz4', compressionOf('lz4')],
  ['snappy', plainSnappy],
  ['framed snappy', framedSnappy],
  ...(canCompressZstd ? [['zstd', compressionOf('zstd')] as const] : []),
]

type Given = { key: string | undefined; value: Uint8Array; timestampMs: number }

const record = fc.record({
  key: fc.option(fc.string({ unit: 'grapheme' }), { nil: undefined }),
  // Mostly text that compresses, so that batches of any codec are compressed.
  value: fc.oneof(
    fc.uint8Array({ maxLength: 300 }),
    fc.integer({ min: 0, max: 2_000 }).map((length) => Buffer.alloc(length, 'usage')),
  ),
  timestampMs: fc.integer({ min: 0, max: 2 ** 51 }),
})
const batch = fc.record({
  records: fc.array(record, { minLength: 1, maxLength: 20 }),
  compression: fc.constantFrom(...compressions.map(([, compression]) => compression)),
})
const batches = fc.array(batch, { maxLength: 5 })

/** Encodes batches as a broker returns them: one after the other, each with its first offset. */
function stored(
  all: readonly {
    readonly records: readonly Given[]
    readonly compression?: Compression | undefined
  }[],
): Buffer {
  let next = 0
  return Buffer.concat(
    all.map(({ records, compression }) => {
      const builder = new RecordBatchBuilder()
      for (const { key, value, timestampMs } of records) builder.add(key, value, timestampMs)
      const producer = { producerId: '7', producerEpoch: 0, firstSequence: next }
      const encoded = Buffer.from(builder.finish(producer, compression))
      encoded.writeBigInt64BE(BigInt(next))
      next += records.length
      return encoded
    }),
  )
}

const usage = (count: number): Given[] =>
  Array.from({ length: count }, (_, n) => {
    return { key: 'customer', value: Buffer.from(`{"usage":${n}}`.padEnd(100)), timestampMs: n }
  })

/** Returns the batch with other bytes of compressed records, and the checksum of these. */
function withRecords(encoded: Buffer, records: Buffer): Buffer {
  const changed = Buffer.concat([encoded.subarray(0, headerBytes), records])
  changed.writeInt32BE(changed.byteLength - 12, 8)
  changed.writeUInt32BE(crc32c(changed, attributesAt, changed.byteLength), 17)
  return changed
}

describe('record batches', () => {
  beforeAll(() => loadZstd())

  it('return every record from an offset on, whatever the codec of each batch', () => {
    fc.assert(
      fc.property(batches, fc.nat(60), (all, fromOffset) => {
        const expected = all
          .flatMap(({ records }) => records)
          .map(({ value, timestampMs }, offset) => {
            return { offset, receivedAtMs: timestampMs, value: new Uint8Array(value) }
          })
          .filter(({ offset }) => offset >= fromOffset)
        const found = decodeRecordBatches(stored(all), fromOffset, bytesMax)
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
        const part = bytes.subarray(0, cut % (bytes.byteLength + 1))
        const found = decodeRecordBatches(part, 0, bytesMax)
        const counts = all.map((_, index) => all.slice(0, index).flatMap((each) => each.records))
        const total = all.flatMap(({ records }) => records).length
        expect([...counts.map(({ length }) => length), total]).toContain(found.length)
      }),
    )
  })

  it('stay plain if they are small or would not shrink', () => {
    const gzip = compressionOf('gzip')
    const codecOf = (records: Given[]) =>
      stored([{ records, compression: gzip }]).readInt16BE(attributesAt)
    expect(codecOf(usage(3))).toBe(codecIds.none)
    expect(codecOf(usage(100))).toBe(codecIds.gzip)
    const random = { key: undefined, value: crypto.getRandomValues(new Uint8Array(5_000)) }
    expect(codecOf([{ ...random, timestampMs: 1 }])).toBe(codecIds.none)
  })

  it('are encoded again for another producer without other changes', () => {
    const builder = new RecordBatchBuilder()
    for (const { key, value, timestampMs } of usage(50)) builder.add(key, value, timestampMs)
    const finish = (producerId: string, firstSequence: number) =>
      Buffer.from(
        builder.finish({ producerId, producerEpoch: 0, firstSequence }, compressionOf('gzip')),
      )
    const first = finish('7', 5)
    const second = finish('8', 0)
    expect(second).not.toEqual(first)
    expect(finish('7', 5)).toEqual(first)
    expect(decodeRecordBatches(second, 0, bytesMax)).toEqual(
      decodeRecordBatches(first, 0, bytesMax),
    )
  })

  it('are refused in an old format', () => {
    const old = stored([{ records: usage(1) }])
    old.writeInt8(1, 16)
    expect(() => decodeRecordBatches(old, 0, bytesMax)).toThrow(RecordBatchFormatError)
  })

  for (const [name, compression] of compressions.filter(([, each]) => each !== undefined)) {
    it(`are refused if any byte was damaged or lost (${name})`, () => {
      const encoded = stored([{ records: usage(100), compression }])
      fc.assert(
        fc.property(
          fc.integer({ min: attributesAt, max: encoded.byteLength - 1 }),
          fc.integer({ min: 1, max: 255 }),
          (at, change) => {
            const damaged = Buffer.from(encoded)
            damaged[at]! ^= change
            // A batch whose attributes say that it is plain is not checked.
            fc.pre((damaged.readInt16BE(attributesAt) & 0x07) !== 0)
            // Offsets in the header decide whether the batch is read at all.
            fc.pre(at < 23 || at >= 27)
            expect(() => decodeRecordBatches(damaged, 0, bytesMax)).toThrow(/checksum is wrong/)
          },
        ),
      )
      const records = encoded.subarray(headerBytes)
      for (const kept of [0, 1, 8, records.byteLength >> 1, records.byteLength - 1]) {
        const cut = withRecords(encoded, records.subarray(0, kept))
        expect(() => decodeRecordBatches(cut, 0, bytesMax)).toThrow(RecordBatchFormatError)
      }
    })

    it(`are refused if they are larger than the limit (${name})`, () => {
      const records = [{ key: undefined, value: Buffer.alloc(900_000), timestampMs: 1 }]
      const encoded = stored([{ records, compression }])
      expect(encoded.readInt16BE(attributesAt)).toBe(compression!.codecId)
      expect(decodeRecordBatches(encoded, 0, bytesMax)).toHaveLength(1)
      expect(() => decodeRecordBatches(encoded, 0, 800_000)).toThrow(
        /offset 0 .* to at most 800000 bytes \(TOLLGATE_KAFKA_BATCH_BYTES_MAX\)/,
      )
    })
  }

  it('are refused if their codec is unknown', () => {
    const encoded = stored([{ records: usage(100), compression: compressionOf('gzip') }])
    encoded.writeInt16BE(7, attributesAt)
    const unknown = withRecords(encoded, encoded.subarray(headerBytes))
    expect(() => decodeRecordBatches(unknown, 0, bytesMax)).toThrow(/There is no codec 7/)
  })

  it('are returned up to a damaged one', () => {
    const whole = stored([{ records: usage(100), compression: compressionOf('gzip') }])
    const broken = withRecords(whole, gzipSync('no records'))
    broken.writeBigInt64BE(100n)
    const both = Buffer.concat([whole, broken])
    expect(decodeRecordBatches(both, 0, bytesMax)).toHaveLength(100)
    expect(() => decodeRecordBatches(both, 100, bytesMax)).toThrow(/offset 100/)
  })
})
