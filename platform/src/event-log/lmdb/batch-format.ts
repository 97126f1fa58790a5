import type { LogRecord } from '../event-log.ts'

/*
 * One stored batch: a header of 16 bytes (record count u32, reserved u32, newest receive time f64), then per record
 * a header of 12 bytes (receive time f64, length u32) and the bytes. Little-endian.
 */
const batchHeaderBytes = 16
const recordHeaderBytes = 12

export function recordBytes(value: Uint8Array): number {
  return recordHeaderBytes + value.length
}

/** The bytes of one batch while records are added to it. */
export class BatchBuffer {
  count = 0
  #used = batchHeaderBytes
  #newestReceivedAtMs = 0
  #bytes: Buffer

  constructor(bytesAtStart: number) {
    this.#bytes = Buffer.allocUnsafeSlow(bytesAtStart)
  }

  get bytes(): number {
    return this.#used
  }

  add(value: Uint8Array, receivedAtMs: number): void {
    const end = this.#used + recordHeaderBytes + value.length
    if (end > this.#bytes.length) this.#grow(end)
    this.#bytes.writeDoubleLE(receivedAtMs, this.#used)
    this.#bytes.writeUInt32LE(value.length, this.#used + 8)
    this.#bytes.set(value, this.#used + recordHeaderBytes)
    this.#used = end
    this.count += 1
    if (receivedAtMs > this.#newestReceivedAtMs) this.#newestReceivedAtMs = receivedAtMs
  }

  /** A view, valid until the buffer is cleared. */
  finish(): Buffer {
    this.#bytes.writeUInt32LE(this.count, 0)
    this.#bytes.writeUInt32LE(0, 4)
    this.#bytes.writeDoubleLE(this.#newestReceivedAtMs, 8)
    return this.#bytes.subarray(0, this.#used)
  }

  clear(): void {
    this.count = 0
    this.#used = batchHeaderBytes
    this.#newestReceivedAtMs = 0
  }

  get capacity(): number {
    return this.#bytes.length
  }

  #grow(needed: number): void {
    const larger = Buffer.allocUnsafeSlow(Math.max(needed, this.#bytes.length * 2))
    this.#bytes.copy(larger, 0, 0, this.#used)
    this.#bytes = larger
  }
}

export function batchCount(batch: Buffer): number {
  return batch.readUInt32LE(0)
}

export function batchNewestReceivedAtMs(batch: Buffer): number {
  return batch.readDoubleLE(8)
}

/** Adds the records from `fromOffset` on to `records` while the limits allow; returns the bytes left, below 0 when full. */
export function readBatch(
  batch: Buffer,
  lastOffset: number,
  fromOffset: number,
  records: LogRecord[],
  recordsMax: number,
  bytesLeft: number,
): number {
  const count = batchCount(batch)
  let offset = lastOffset - count + 1
  let at = batchHeaderBytes
  for (; offset <= lastOffset; offset += 1) {
    const length = batch.readUInt32LE(at + 8)
    const start = at + recordHeaderBytes
    if (offset >= fromOffset) {
      bytesLeft -= length
      if (records.length > 0 && (bytesLeft < 0 || records.length >= recordsMax)) return -1
      records.push({
        offset,
        receivedAtMs: batch.readDoubleLE(at),
        value: batch.subarray(start, start + length),
      })
    }
    at = start + length
  }
  return bytesLeft
}
