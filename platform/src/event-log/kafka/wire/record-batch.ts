import type { LogRecord } from '../../event-log.ts'
import { ByteReader } from './byte-reader.ts'
import { ByteWriter, varintBytes } from './byte-writer.ts'
import { crc32c } from './crc32c.ts'

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

  /** Returns the encoded batch. May be called again for another producer. */
  finish({ producerId, producerEpoch, firstSequence }: BatchProducer): Buffer {
    const batch = this.#writer.bytes
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

/** The batch has a format that is not supported, because another client wrote it. */
export class RecordBatchFormatError extends Error {
  override readonly name = 'RecordBatchFormatError'
}

/**
 * Decodes the records from `fromOffset` on. Their values are views into `batches`. The first batch may begin before that offset. If
 * the fetch limit cut off the last batch, that batch is ignored.
 */
export function decodeRecordBatches(batches: Buffer, fromOffset: number): LogRecord[] {
  const records: LogRecord[] = []
  for (let at = 0; at + batchHeaderBytes <= batches.byteLength;) {
    const end = at + leaderEpochAt + batches.readInt32BE(at + lengthAt)
    if (end > batches.byteLength) break
    decodeBatch(batches, at, end, fromOffset, records)
    at = end
  }
  return records
}

function decodeBatch(
  bytes: Buffer,
  start: number,
  end: number,
  fromOffset: number,
  records: LogRecord[],
): void {
  if (bytes.readInt8(start + magicAt) !== magic) {
    throw new RecordBatchFormatError('The topic holds records in a format of before Kafka 0.11.')
  }
  const baseOffset = Number(bytes.readBigInt64BE(start))
  const attributes = bytes.readInt16BE(start + attributesAt)
  if ((attributes & compressionMask) !== 0) {
    throw new RecordBatchFormatError(
      `The batch at offset ${baseOffset} is compressed. The topic must have compression.type=producer.`,
    )
  }
  const firstTimestamp = Number(bytes.readBigInt64BE(start + firstTimestampAt))
  const maxTimestamp = Number(bytes.readBigInt64BE(start + maxTimestampAt))
  const isAppendTime = (attributes & logAppendTimeFlag) !== 0
  const count = bytes.readInt32BE(start + countAt)
  const reader = new ByteReader(bytes, start + batchHeaderBytes, end)
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
