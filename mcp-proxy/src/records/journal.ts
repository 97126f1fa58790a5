import {
  closeSync,
  existsSync,
  fsync,
  ftruncateSync,
  mkdirSync,
  openSync,
  readSync,
  unlinkSync,
  writeSync,
} from 'node:fs'
import { rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { CallRecord } from './call-record.ts'
import { decodeFrames, encodeFrame } from './frames.ts'
import type { JournalPlace } from './journal-place.ts'
import { Unsynced } from './unsynced.ts'

export type JournalLimits = {
  /** Maximum bytes of undelivered records. */
  readonly bytesMax: number
  /** Bytes after which the next segment begins. A segment is deleted when all its records are delivered. */
  readonly segmentBytesMax: number
}

export type ReadRecord = {
  /** Undefined if the line is damaged. */
  readonly record: CallRecord | undefined
  readonly bytes: number
  /** Position of the next record. */
  readonly next: JournalPlace
}

/** Bytes reserved for the record of one call: names of maximum length in UTF-8, and the reason of a failure. */
const recordBytesMax = 8_192
const readBytes = 256 * 1024

/**
 * Records of ended calls on their way to ingest, in the order in which the calls ended. One process writes and reads a journal.
 *
 * A record is written with one system call before the call's answer ends. It survives a `kill -9` of this process, because the
 * kernel has it. A power loss destroys records that are not synced yet (`sync`). A process that dies during the write leaves an
 * incomplete line or a wrong checksum. The client of such a call got no answer.
 *
 * If this process shows no sign of life, another process takes the folder over and renames it first. After each write, this process
 * therefore checks whether the folder still exists. If so, the other process will read the written record. If not, the other
 * process may have read the folder before the write. When `isLost` is true, the records of `leftBehind` must be appended to another
 * journal.
 */
export class Journal {
  readonly folder: string
  readonly #limits: JournalLimits
  #segment = 0
  #oldest = 0
  #file: number | undefined
  /** Bytes of the current segment that contain complete records. */
  #length = 0
  #delivered: JournalPlace = { segment: 0, offset: 0 }
  #saved: JournalPlace = this.#delivered
  #saving: Promise<void> | undefined
  #pendingBytes = 0
  #promisedBytes = 0
  #isDirty = false
  #isLost = false
  /** Completed segments that are being synced. Each promise resolves to the error, or to undefined. */
  readonly #closing = new Set<Promise<Error | undefined>>()
  /** Records that the kernel of this machine has, but that may not be on a shared disk yet. */
  readonly #unsynced = new Unsynced()
  /** Records that could not be written when their calls ended. They are written before any newer record. */
  #unwritten: Buffer[] = []

  /** `promisedBytes` is the room that was promised by the journal which this one replaces. */
  constructor(folder: string, limits: JournalLimits, promisedBytes = 0) {
    this.folder = folder
    this.#limits = limits
    this.#promisedBytes = promisedBytes
    mkdirSync(folder, { recursive: true, mode: 0o700 })
  }

  /** Bytes of records that are not acknowledged yet. */
  get pendingBytes(): number {
    return this.#pendingBytes
  }

  /** Number of records in memory that could not be written yet. */
  get unwrittenCount(): number {
    return this.#unwritten.length
  }

  get promisedBytes(): number {
    return this.#promisedBytes
  }

  /** Whether another process has taken the folder over. */
  get isLost(): boolean {
    return this.#isLost
  }

  /** Checks whether the folder still exists, and returns the result. A missing folder was taken over by another process. */
  checkFolder(): boolean {
    if (!this.#isLost && !existsSync(this.folder)) this.#isLost = true
    return !this.#isLost
  }

  /** Returns the records that the process which took the folder over may not have read, oldest first. */
  leftBehind(): CallRecord[] {
    const frames = [...this.#unsynced.frames, ...this.#unwritten]
    return [...decodeFrames(Buffer.concat(frames))].map(({ record }) => record!)
  }

  /** Position at which the next record will be written. */
  get end(): JournalPlace {
    return { segment: this.#segment, offset: this.#length }
  }

  get hasRoom(): boolean {
    const { bytesMax } = this.#limits
    return (
      !this.#isLost &&
      this.#unwritten.length === 0 &&
      this.#pendingBytes + this.#promisedBytes + recordBytesMax <= bytesMax
    )
  }

  /**
   * Reserves room for the record of a call that is about to begin. Returns false if the journal is full or cannot be written to.
   */
  promiseRoom(): boolean {
    if (!this.hasRoom) return false
    this.#promisedBytes += recordBytesMax
    return true
  }

  /** Releases the reserved room of a call that will have no record, or whose record is about to be appended. */
  endPromise(): void {
    this.#promisedBytes -= recordBytesMax
  }

  /**
   * Appends a record. Never throws and never refuses: a record that cannot be written is kept in memory and written by
   * `retryWrites`.
   */
  append(record: CallRecord): void {
    const frame = encodeFrame(record)
    this.#pendingBytes += frame.byteLength
    this.#unwritten.push(frame)
    this.retryWrites()
  }

  /** Writes the records that could not be written before. Returns the error of the disk, or undefined if everything is written. */
  retryWrites(): Error | undefined {
    try {
      for (let frame = this.#unwritten[0]; frame !== undefined; frame = this.#unwritten[0]) {
        this.#write(frame)
        this.#unwritten.shift()
        this.#unsynced.add(frame, this.end)
      }
      return undefined
    } catch (error) {
      return error as Error
    } finally {
      this.checkFolder()
    }
  }

  #write(frame: Buffer): void {
    if (this.#length >= this.#limits.segmentBytesMax) this.#beginSegment(this.#segment + 1)
    this.#file ??= openSync(this.#pathOf(this.#segment), 'a+', 0o600)
    const file = this.#file
    let written = 0
    try {
      // On a full disk, a write stores part of the frame and the next write fails.
      while (written < frame.byteLength) written += writeSync(file, frame, written)
    } catch (error) {
      if (written > 0) this.#dropTail(file)
      throw error
    }
    this.#length += frame.byteLength
    this.#isDirty = true
  }

  /** Removes a partly written record. Together with the next record it would form one damaged line. */
  #dropTail(file: number): void {
    try {
      ftruncateSync(file, this.#length)
    } catch {
      this.#beginSegment(this.#segment + 1)
    }
  }

  #beginSegment(segment: number): void {
    if (this.#file !== undefined) {
      const file = this.#file
      const closing = syncFile(file).finally(() => {
        closeSync(file)
        this.#closing.delete(closing)
      })
      this.#closing.add(closing)
    }
    this.#file = undefined
    this.#segment = segment
    this.#length = 0
  }

  /** Reads records from a position on: at least 1 if there is one, and at most about 256 KiB. */
  read(from: JournalPlace): ReadRecord[] {
    const { segment } = from
    const isCurrent = segment === this.#segment
    const records =
      isCurrent && this.#file !== undefined
        ? readRecords(this.#file, from, this.#length)
        : readSegment(this.#pathOf(segment), from, isCurrent ? this.#length : undefined)
    if (records.length > 0 || segment >= this.#segment) return records
    return this.read({ segment: segment + 1, offset: 0 })
  }

  /**
   * Marks everything before `place` as delivered, and deletes segments that are delivered completely. A later process starts at the
   * position that was saved last, so it delivers the records after it again. Ingest deduplicates them by key.
   */
  acknowledge(place: JournalPlace, bytes: number): void {
    this.#pendingBytes -= bytes
    this.#delivered = place
    this.#unsynced.forgetUpTo(place)
    // If another process has taken the folder over, it delivers the same records again.
    if (!this.checkFolder()) return
    for (; this.#oldest < place.segment; this.#oldest++) removeIfThere(this.#pathOf(this.#oldest))
  }

  /**
   * Saves the delivered position. Runs asynchronously, because the rename may wait many milliseconds for the disk and calls must
   * not wait.
   */
  savePosition(): Promise<void> {
    this.#saving ??= this.#writePosition().finally(() => (this.#saving = undefined))
    return this.#saving
  }

  async #writePosition(): Promise<void> {
    const place = this.#delivered
    if (place === this.#saved || !this.checkFolder()) return
    // The file is replaced atomically, so a reader finds the old position or the new one.
    const path = positionPath(this.folder)
    await writeFile(`${path}.new`, JSON.stringify(place), { mode: 0o600 })
    await rename(`${path}.new`, path)
    this.#saved = place
  }

  /** Whether all records are delivered. */
  get isDrained(): boolean {
    const { segment, offset } = this.#delivered
    const { end } = this
    return this.#unwritten.length === 0 && segment === end.segment && offset === end.offset
  }

  /** Flushes the written records to disk. A power loss destroys the records that were written after the last sync. */
  async sync(): Promise<void> {
    const file = this.#file
    const { end } = this
    const syncing = [...this.#closing]
    if (this.#isDirty && file !== undefined) syncing.push(syncFile(file))
    this.#isDirty = false
    const failed = (await Promise.all(syncing)).find((error) => error !== undefined)
    if (failed !== undefined) {
      this.#isDirty = true
      throw failed
    }
    if (this.checkFolder()) this.#unsynced.forgetUpTo(end)
  }

  close(): void {
    if (this.#file !== undefined) closeSync(this.#file)
    this.#file = undefined
  }

  #pathOf(segment: number): string {
    return segmentPath(this.folder, segment)
  }
}

/** Resolves to the error, or to undefined. */
function syncFile(file: number): Promise<Error | undefined> {
  return new Promise((resolve) => fsync(file, (error) => resolve(error ?? undefined)))
}

export function segmentPath(folder: string, segment: number): string {
  return join(folder, `${segment.toString().padStart(10, '0')}.journal`)
}

/** Reads complete lines of a segment. An incomplete last line is not returned. */
export function readSegment(
  path: string,
  from: JournalPlace,
  end: number | undefined,
): ReadRecord[] {
  if (!existsSync(path)) return []
  const file = openSync(path, 'r')
  try {
    return readRecords(file, from, end)
  } finally {
    closeSync(file)
  }
}

function readRecords(file: number, from: JournalPlace, end: number | undefined): ReadRecord[] {
  for (let size = readBytes; ; size *= 2) {
    const wanted = end === undefined ? size : Math.min(size, end - from.offset)
    const bytes = Buffer.allocUnsafe(Math.max(wanted, 0))
    const got = readSync(file, bytes, 0, bytes.byteLength, from.offset)
    const records = placed(bytes.subarray(0, got), from)
    // If one line is longer than the bytes read, read more.
    if (records.length > 0 || got < size) return records
  }
}

function placed(bytes: Buffer, from: JournalPlace): ReadRecord[] {
  const records: ReadRecord[] = []
  let start = 0
  for (const { record, end } of decodeFrames(bytes)) {
    const next = { segment: from.segment, offset: from.offset + end }
    records.push({ record, bytes: end - start, next })
    start = end
  }
  return records
}

/** Path of the file with the position of the first record that is not known to be delivered. */
export function positionPath(folder: string): string {
  return join(folder, 'position')
}

function removeIfThere(path: string): void {
  try {
    unlinkSync(path)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
  }
}
