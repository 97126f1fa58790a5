import { crc32 } from 'node:zlib'

/*
 * A commit is what one write brings to the disk: a header of 24 bytes and the records in the order they came, of
 * whatever topics and partitions. Little-endian:
 *   crc32 u32 of all that follows, bytes of the whole commit u32, sequence number u64, the segment's mark; then per
 *   record: bytes of the value u32, stream u16, receive time f64, the value.
 * A record's offset is not stored: it is the number of its stream's records before it.
 */
export const commitHeaderBytes = 24
export const recordHeaderBytes = 14
/** As many as a record's header can tell apart. */
export const streamsMax = 2 ** 16

/** What `commitAt` says of bytes that are no whole commit. */
export const notWhole = 0
export const notValid = -1

export type CommitExpected = {
  readonly mark: Buffer
  readonly sequence: number
}

/**
 * Bytes of the commit that starts at `at`; `notWhole` when it goes on behind `end`, `notValid` when it is not the one
 * that is expected there. Behind the last commit of a segment there are zeros, which are not valid.
 */
export function commitAt(bytes: Buffer, at: number, end: number, expected: CommitExpected): number {
  if (end - at < commitHeaderBytes) return notWhole
  const length = bytes.readUInt32LE(at + 4)
  if (
    length < commitHeaderBytes ||
    readSequence(bytes, at) !== expected.sequence ||
    expected.mark.compare(bytes, at + 16, at + 24) !== 0
  ) {
    return notValid
  }
  if (at + length > end) return notWhole
  return hasValidSum(bytes, at, length) ? length : notValid
}

/**
 * Whether a valid commit with a later sequence number than `expected` starts anywhere in `bytes`. No client
 * can make a record's value look like one, because none knows the mark.
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

/** The bytes of one commit while records are added to it. Used over and over. */
export class CommitBuffer {
  /** By stream: the number of its records in this commit. */
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

  /** The commit as it goes into the segment; a view, valid until the buffer is cleared. */
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
/** What a rare large commit took beyond this is given back. */
const bytesToKeepMax = 4 * 1024 * 1024
