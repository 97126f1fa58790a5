import { closeSync, constants, existsSync, fstatSync, openSync, readSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { crc32 } from 'node:zlib'
import { DataFolderError } from '../../lmdb/environment.ts'

/** The durable extent of the log. */
export type DurableState = {
  /** Number of the segment that is being written. */
  readonly segment: number
  /** End of its last durable commit, in bytes of the file. */
  readonly end: number
  /** Number of the oldest segment that belongs to the log. */
  readonly oldestSegment: number
  /** Offset after the last durable record, by stream. */
  readonly heads: readonly number[]
}

/*
 * Written data is visible in the file before it is durable. So other processes read only up to the state in the file `durable`,
 * which the writer rewrites after each commit, before it acknowledges that commit. The file itself is not synced: after a kill it
 * may lack one commit, after a power failure several, and it never claims too much. Format, little-endian: crc32 u32 of everything
 * after it, number of heads u32, then segment, end, oldest segment and heads, each f64.
 */
const fixedBytes = 32
const headBytes = 8

function pathOf(folder: string): string {
  return join(folder, 'durable')
}

/** Writes the state. Used by the process that appends. */
export class DurableStateWriter {
  readonly #fd: number
  #bytes = Buffer.alloc(0)
  #view = new DataView(new ArrayBuffer(0))

  constructor(folder: string) {
    this.#fd = openSync(pathOf(folder), constants.O_RDWR | constants.O_CREAT)
  }

  /** Writes the state. Throws if the disk refuses it; readers then see the previous state, or none until the next call. */
  publish({ segment, end, oldestSegment, heads }: DurableState): void {
    const length = fixedBytes + heads.length * headBytes
    if (this.#bytes.length !== length) this.#resize(length)
    const view = this.#view
    view.setUint32(4, heads.length, true)
    view.setFloat64(8, segment, true)
    view.setFloat64(16, end, true)
    view.setFloat64(24, oldestSegment, true)
    for (let stream = 0, at = fixedBytes; stream < heads.length; stream += 1, at += headBytes) {
      view.setFloat64(at, heads[stream]!, true)
    }
    view.setUint32(0, crc32(this.#bytes.subarray(4)), true)
    const written = writeSync(this.#fd, this.#bytes, 0, length, 0)
    if (written < length) throw new Error(`Wrote ${written} of ${length} bytes.`)
  }

  close(): void {
    closeSync(this.#fd)
  }

  #resize(length: number): void {
    this.#bytes = Buffer.alloc(length)
    this.#view = new DataView(this.#bytes.buffer, this.#bytes.byteOffset, length)
  }
}

/** Reads the state, in any process. */
export class DurableStateReader {
  readonly #path: string
  readonly #fd: number
  #bytes = Buffer.alloc(0)
  #last: { readonly bytes: Buffer; readonly state: DurableState } | undefined

  private constructor(path: string, fd: number) {
    this.#path = path
    this.#fd = fd
  }

  /** Returns undefined if there is no state: no writer has opened the log yet, or none since a power failure. */
  static tryOpen(folder: string): DurableStateReader | undefined {
    const path = pathOf(folder)
    if (!existsSync(path)) return undefined
    const reader = new DurableStateReader(path, openSync(path, 'r'))
    if (reader.#tryRead() !== undefined) return reader
    reader.close()
    return undefined
  }

  read(): DurableState {
    // A read during a write may see a mix of both states, so it is retried. A write takes a few microseconds.
    for (let attempt = 0; attempt < attemptsMax; attempt += 1) {
      const state = this.#tryRead()
      if (state !== undefined) return state
    }
    throw new DataFolderError(`The event log is damaged: ${this.#path} cannot be read.`)
  }

  close(): void {
    closeSync(this.#fd)
  }

  #tryRead(): DurableState | undefined {
    let length = readSync(this.#fd, this.#bytes, 0, this.#bytes.length, 0)
    if (length < fixedBytes || length < stateBytes(this.#bytes)) {
      this.#bytes = Buffer.alloc(Math.max(fstatSync(this.#fd).size, fixedBytes))
      length = readSync(this.#fd, this.#bytes, 0, this.#bytes.length, 0)
    }
    const last = this.#last
    if (last !== undefined && last.bytes.equals(this.#bytes)) return last.state
    const state = decode(this.#bytes.subarray(0, length))
    if (state !== undefined) this.#last = { bytes: Buffer.from(this.#bytes), state }
    return state
  }
}

function stateBytes(bytes: Buffer): number {
  return fixedBytes + bytes.readUInt32LE(4) * headBytes
}

function decode(bytes: Buffer): DurableState | undefined {
  const isWhole =
    bytes.length >= fixedBytes &&
    bytes.length === stateBytes(bytes) &&
    bytes.readUInt32LE(0) === crc32(bytes.subarray(4))
  if (!isWhole) return undefined
  const heads: number[] = []
  for (let at = fixedBytes; at < bytes.length; at += headBytes) heads.push(bytes.readDoubleLE(at))
  return {
    segment: bytes.readDoubleLE(8),
    end: bytes.readDoubleLE(16),
    oldestSegment: bytes.readDoubleLE(24),
    heads,
  }
}

const attemptsMax = 10_000
