import { crc32 } from 'node:zlib'

/*
 * A commit is the unit of one write: a header of 24 bytes, then records of any topics and partitions in the order of their arrival.
 * Little-endian:
 * crc32 u32 of everything after it, length of the whole commit in bytes u32, sequence number u64, mark of the segment; then per
 * record: length of the value u32, stream u16, receive time f64, value.
 * The offset of a record is not stored: it is the number of earlier records of its stream.
 */
export const commitHeaderBytes = 24
export const recordHeaderBytes = 14
/** Maximum number of streams that the record header can address. */
export const streamsMax = 2 ** 16

/** Results of `commitAt` for bytes that are not a complete commit. */
export const incompleteCommit = 0
export const invalidCommit = -1

export type CommitExpected = {
  readonly mark: Buffer
  readonly sequence: number
}

/**
 * Returns the length of the commit that starts at `at`. Returns `incompleteCommit` if it continues after `end`, and `invalidCommit` if it is not
 * the expected commit. After the last commit of a segment the file contains zeros, which are not valid.
 */
export function commitAt(bytes: Buffer, at: number, end: number, expected: CommitExpected): number {
  if (end - at < commitHeaderBytes) return incompleteCommit
  const length = bytes.readUInt32LE(at + 4)
  if (
    length < commitHeaderBytes ||
    readSequence(bytes, at) !== expected.sequence ||
    expected.mark.compare(bytes, at + 16, at + 24) !== 0
  ) {
    return invalidCommit
  }
  if (at + length > end) return incompleteCommit
  return hasValidSum(bytes, at, length) ? length : invalidCommit
}

/**
 * Returns whether a valid commit with a later sequence number than `expected` starts anywhere in `bytes`. A client cannot forge one
 * inside a record, because it does not know the mark.
 */
export function hasLaterCommit(bytes: Buffer, expected: CommitExpected): boolean {
  for (let from = 0; ;) {
    const found = bytes.indexOf(expected.mark, from)
    if (found < 0) return false
    from = found + 1
    const at = found - 16
    if (at < 0 || bytes.length - at < commitHeaderBytes) continue
    const length = bytes.readUInt32LE(at + 4)
    const isWhole = length >= commitHeaderBytes && at + length <= bytes.length
    if (!isWhole || readSequence(bytes, at) <= expected.sequence) continue
    if (hasValidSum(bytes, at, length)) return true
  }
}

export function valueBytes(bytes: Buffer, recordAt: number): number {
  return bytes.readUInt32LE(recordAt)
}

export function recordStream(bytes: Buffer, recordAt: number): number {
  return bytes.readUInt16LE(recordAt + 4)
}

export function recordReceivedAtMs(bytes: Buffer, recordAt: number): number {
  return bytes.readDoubleLE(recordAt + 6)
}

function hasValidSum(bytes: Buffer, at: number, length: number): boolean {
  return bytes.readUInt32LE(at) === crc32(bytes.subarray(at + 4, at + length))
}

function readSequence(bytes: Buffer, at: number): number {
  return bytes.readUInt32LE(at + 8) + bytes.readUInt32LE(at + 12) * 2 ** 32
}

/** Builds the bytes of one commit. The buffer is reused. */
export class CommitBuffer {
  /** Number of records in this commit, by stream. */
  readonly counts: number[]
  newestMs = -Infinity
  #used = commitHeaderBytes
  #bytes: Buffer
  #view: DataView

  constructor(streamCount: number) {
    this.counts = new Array<number>(streamCount).fill(0)
    this.#bytes = Buffer.allocUnsafeSlow(bytesAtStart)
    this.#view = viewOf(this.#bytes)
  }

  add(stream: number, value: Uint8Array, receivedAtMs: number): void {
    const at = this.#used
    const end = at + recordHeaderBytes + value.length
    if (end > this.#bytes.length) this.#grow(end)
    const view = this.#view
    view.setUint32(at, value.length, true)
    view.setUint16(at + 4, stream, true)
    view.setFloat64(at + 6, receivedAtMs, true)
    this.#bytes.set(value, at + recordHeaderBytes)
    this.#used = end
    this.counts[stream]! += 1
    if (receivedAtMs > this.newestMs) this.newestMs = receivedAtMs
  }

  get bytes(): number {
    return this.#used
  }

  /** Returns the encoded commit, as a view that is valid until the buffer is cleared. */
  finish(sequence: number, mark: Buffer): Buffer {
    const view = this.#view
    view.setUint32(4, this.#used, true)
    view.setUint32(8, sequence % 2 ** 32, true)
    view.setUint32(12, Math.floor(sequence / 2 ** 32), true)
    this.#bytes.set(mark, 16)
    view.setUint32(0, crc32(this.#bytes.subarray(4, this.#used)), true)
    return this.#bytes.subarray(0, this.#used)
  }

  clear(): void {
    this.counts.fill(0)
    this.newestMs = -Infinity
    this.#used = commitHeaderBytes
    if (this.#bytes.length > bytesToKeepMax) this.#replace(Buffer.allocUnsafeSlow(bytesAtStart))
  }

  #grow(needed: number): void {
    const larger = Buffer.allocUnsafeSlow(Math.max(needed, this.#bytes.length * 2))
    this.#bytes.copy(larger, 0, 0, this.#used)
    this.#replace(larger)
  }

  #replace(bytes: Buffer): void {
    this.#bytes = bytes
    this.#view = viewOf(bytes)
  }
}

function viewOf(bytes: Buffer): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
}

const bytesAtStart = 64 * 1024
/** Memory above this size is released after a rare large commit. */
const bytesToKeepMax = 4 * 1024 * 1024
