import type { LogRecord } from '../../event-log.ts'
import { ByteReader } from './byte-reader.ts'
import { ByteWriter, varintBytes } from './byte-writer.ts'
import { codecName } from './codecs.ts'
import type { Compression } from './compress.ts'
import { crc32c } from './crc32c.ts'
import { decompress } from './decompress.ts'

/*
 * Kafka's record batch, version 2:
 *
 *   base offset 8 | length 4 | leader epoch 4 | magic 1 | crc 4 | attributes 2 | last offset delta 4 | first timestamp 8 |
 *   max timestamp 8 | producer id 8 | producer epoch 2 | first sequence 4 | record count 4 | records
 */
const lengthAt = 8
const leaderEpochAt = 12
const magicAt = 16
const crcAt = 17
const attributesAt = 21
const lastOffsetDeltaAt = 23
const firstTimestampAt = 27
const maxTimestampAt = 35
const producerIdAt = 43
const producerEpochAt = 51
const firstSequenceAt = 53
const countAt = 57
export const batchHeaderBytes = 61

const magic = 2
/** Smaller batches, of about eight records, stay plain: a codec takes up to 25 µs to start. */
const compressedBytesMin = 2_048
const compressionMask = 0x07
const logAppendTimeFlag = 0x08

/** Identifies a batch at the broker, which stores it once however often it is sent. */
export type BatchProducer = {
  /** Producer id: a 64-bit integer as text. */
  readonly producerId: string
  readonly producerEpoch: number
  readonly firstSequence: number
}

/** Builds one batch. The bytes of a record are copied when it is added. */
export class RecordBatchBuilder {
  readonly #writer = new ByteWriter(4096)
  #count = 0
  #firstTimestampMs = 0
  #maxTimestampMs = 0
  #finished: Buffer | undefined

  constructor() {
    this.#writer.raw(emptyHeader)
  }

  get count(): number {
    return this.#count
  }

  get bytes(): number {
    return this.#writer.length
  }

  add(key: string | undefined, value: Uint8Array, timestampMs: number): void {
    if (this.#count === 0) this.#firstTimestampMs = this.#maxTimestampMs = timestampMs
    this.#maxTimestampMs = Math.max(this.#maxTimestampMs, timestampMs)
    const timestampDelta = timestampMs - this.#firstTimestampMs
    const keyBytes = key === undefined ? 0 : Buffer.byteLength(key)
    const bodyBytes =
      2 + // attributes, and no headers
      varintBytes(timestampDelta) +
      varintBytes(this.#count) +
      varintBytes(key === undefined ? -1 : keyBytes) +
      keyBytes +
      varintBytes(value.byteLength) +
      value.byteLength
    this.#writer.varint(bodyBytes).int8(0).varint(timestampDelta).varint(this.#count)
    if (key === undefined) this.#writer.varint(-1)
    else this.#writer.varint(keyBytes).utf8(key, keyBytes)
    this.#writer.varint(value.byteLength).raw(value).int8(0)
    this.#count += 1
  }

  /**
   * Returns the encoded batch. No record may be added after that. May be called again for another producer: the records are
   * compressed once.
   */
  finish(
    { producerId, producerEpoch, firstSequence }: BatchProducer,
    compression?: Compression,
  ): Buffer {
    const batch = (this.#finished ??= withCompressedRecords(this.#writer.bytes, compression))
    batch.writeInt32BE(batch.byteLength - leaderEpochAt, lengthAt)
    batch.writeInt8(magic, magicAt)
    batch.writeInt32BE(this.#count - 1, lastOffsetDeltaAt)
    batch.writeBigInt64BE(BigInt(this.#firstTimestampMs), firstTimestampAt)
    batch.writeBigInt64BE(BigInt(this.#maxTimestampMs), maxTimestampAt)
    batch.writeBigInt64BE(BigInt(producerId), producerIdAt)
    batch.writeInt16BE(producerEpoch, producerEpochAt)
    batch.writeInt32BE(firstSequence, firstSequenceAt)
    batch.writeInt32BE(this.#count, countAt)
    batch.writeUInt32BE(crc32c(batch, attributesAt, batch.byteLength), crcAt)
    return batch
  }
}

const emptyHeader = Buffer.alloc(batchHeaderBytes)

/** Returns the batch with its records compressed, or the same batch if that would save nothing. */
function withCompressedRecords(batch: Buffer, compression: Compression | undefined): Buffer {
  if (compression === undefined || batch.byteLength < compressedBytesMin) return batch
  const records = compression.compress(batch.subarray(batchHeaderBytes))
  if (records.byteLength >= batch.byteLength - batchHeaderBytes) return batch
  const compressed = Buffer.concat([emptyHeader, records])
  compressed.writeInt16BE(compression.codecId, attributesAt)
  return compressed
}

/** The batch has a format that is not supported, because another client wrote it, or it is damaged or too large. */
export class RecordBatchFormatError extends Error {
  override readonly name = 'RecordBatchFormatError'
}

/**
 * Decodes the records from `fromOffset` on. Their values are views into `batches`, or into the decompressed batch. The first batch
 * may begin before that offset. If the fetch limit cut off the last batch, that batch is ignored. Returns the records before a
 * compressed batch that is damaged or has more than `decompressedBytesMax` bytes. Throws a RecordBatchFormatError if there are none.
 */
export function decodeRecordBatches(
  batches: Buffer,
  fromOffset: number,
  decompressedBytesMax: number,
): LogRecord[] {
  const records: LogRecord[] = []
  for (let at = 0; at + batchHeaderBytes <= batches.byteLength;) {
    const end = at + leaderEpochAt + batches.readInt32BE(at + lengthAt)
    if (end > batches.byteLength) break
    try {
      decodeBatch(batches.subarray(at, end), fromOffset, decompressedBytesMax, records)
    } catch (error) {
      // The caller gets the error when it continues after the records that can be read.
      if (error instanceof RecordBatchFormatError && records.length > 0) break
      throw error
    }
    at = end
  }
  return records
}

function decodeBatch(
  batch: Buffer,
  fromOffset: number,
  decompressedBytesMax: number,
  records: LogRecord[],
): void {
  if (batch.readInt8(magicAt) !== magic) {
    throw new RecordBatchFormatError('The topic holds records in a format of before Kafka 0.11.')
  }
  const baseOffset = Number(batch.readBigInt64BE(0))
  if (baseOffset + batch.readInt32BE(lastOffsetDeltaAt) < fromOffset) return
  const codecId = batch.readInt16BE(attributesAt) & compressionMask
  if (codecId === 0) {
    readRecords(batch, new ByteReader(batch, batchHeaderBytes), baseOffset, fromOffset, records)
    return
  }
  const decoded: LogRecord[] = []
  try {
    checkChecksum(batch)
    const bytes = decompress(codecId, batch.subarray(batchHeaderBytes), decompressedBytesMax)
    readRecords(batch, new ByteReader(bytes), baseOffset, fromOffset, decoded)
  } catch (cause) {
    throw new RecordBatchFormatError(
      `Cannot decompress the batch at offset ${baseOffset} (${codecName(codecId) ?? `codec ${codecId}`}, ` +
        `${batch.byteLength} bytes) to at most ${decompressedBytesMax} bytes ` +
        `(TOLLGATE_KAFKA_BATCH_BYTES_MAX): ${(cause as Error).message}`,
      { cause },
    )
  }
  for (const record of decoded) records.push(record)
}

/** Kafka's brokers check the checksum of a batch when they receive it, but not when they return it. */
function checkChecksum(batch: Buffer): void {
  const expected = batch.readUInt32BE(crcAt)
  if (crc32c(batch, attributesAt, batch.byteLength) !== expected) {
    throw new Error('its checksum is wrong')
  }
}

/** Adds the records in `reader`, which follow the header of `batch`, from `fromOffset` on. */
function readRecords(
  batch: Buffer,
  reader: ByteReader,
  baseOffset: number,
  fromOffset: number,
  records: LogRecord[],
): void {
  const firstTimestamp = Number(batch.readBigInt64BE(firstTimestampAt))
  const maxTimestamp = Number(batch.readBigInt64BE(maxTimestampAt))
  const isAppendTime = (batch.readInt16BE(attributesAt) & logAppendTimeFlag) !== 0
  const count = batch.readInt32BE(countAt)
  for (let index = 0; index < count; index += 1) {
    const bodyBytes = reader.varint()
    const recordEnd = reader.position + bodyBytes
    const timestampDelta = reader.skip(1).varint()
    const offset = baseOffset + reader.varint()
    reader.skip(Math.max(0, reader.varint()))
    const value = reader.raw(Math.max(0, reader.varint()))
    reader.skip(recordEnd - reader.position)
    if (offset < fromOffset) continue
    const receivedAtMs = isAppendTime ? maxTimestamp : firstTimestamp + timestampDelta
    records.push({ offset, receivedAtMs, value })
  }
}
