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
  /** Bytes of records that are not delivered yet. */
  readonly bytesMax: number
  /** Bytes after which the next segment begins. Whole segments are deleted once they are delivered. */
  readonly segmentBytesMax: number
}

export type ReadRecord = {
  /** Undefined: the line is damaged. */
  readonly record: CallRecord | undefined
  readonly bytes: number
  /** Where the next record begins. */
  readonly next: JournalPlace
}

/** Room that a call needs for its record: names of the longest length in UTF-8, and the reason of a failure. */
const recordBytesMax = 8_192
const readBytes = 256 * 1024

/**
 * Records of finished calls on their way to ingest, in the order in which the calls ended. One process writes and reads it.
 *
 * A record is written with one system call before the call's answer ends, so that it outlives a `kill -9` of this process: the
 * kernel has it. A power loss takes what was not synced yet (`sync`). A process that dies within the write leaves a line without
 * its end, or with a wrong sum; such a call was not answered.
 *
 * Another process that takes the folder over, because this one showed no sign of life, renames it first. So this one looks after
 * each write whether the folder is still there. If it is, the other process reads what was written. If not, it may have read the
 * folder before: whoever finds `isLost` appends the records of `leftBehind` to another journal.
 */
export class Journal {
  readonly folder: string
  readonly #limits: JournalLimits
  #segment = 0
  #oldest = 0
  #file: number | undefined
  /** Bytes of the current segment that hold whole records. */
  #length = 0
  #delivered: JournalPlace = { segment: 0, offset: 0 }
  #saved: JournalPlace = this.#delivered
  #saving: Promise<void> | undefined
  #pendingBytes = 0
  #promisedBytes = 0
  #isDirty = false
  #isLost = false
  /** Segments that are complete, while they are synced. Resolve to what was wrong. */
  readonly #closing = new Set<Promise<Error | undefined>>()
  /** The kernel of this machine has these records, and a shared disk perhaps not. */
  readonly #unsynced = new Unsynced()
  /** Records that could not be written when their calls ended. They are written before any other. */
  #unwritten: Buffer[] = []

  /** `promisedBytes` are the promises of a journal that this one replaces. */
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

  /** Records that wait in memory because the last write failed. */
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

  /** Looks whether the folder is still there, and returns whether it is. */
  checkFolder(): boolean {
    if (!this.#isLost && !existsSync(this.folder)) this.#isLost = true
    return !this.#isLost
  }

  /** Records that the process which took the folder over may not have seen, oldest first. */
  leftBehind(): CallRecord[] {
    const frames = [...this.#unsynced.frames, ...this.#unwritten]
    return [...decodeFrames(Buffer.concat(frames))].map(({ record }) => record!)
  }

  /** Where the next record will be written. */
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

  /** Keeps room for the record of a call that is about to begin; false: the journal is full, or cannot be written to. */
  promiseRoom(): boolean {
    if (!this.hasRoom) return false
    this.#promisedBytes += recordBytesMax
    return true
  }

  /** Gives the room of a call back that will have no record, or whose record is about to be appended. */
  endPromise(): void {
    this.#promisedBytes -= recordBytesMax
  }

  /** Never throws and never refuses: a record that cannot be written waits in memory and is written by `retryWrites`. */
  append(record: CallRecord): void {
    const frame = encodeFrame(record)
    this.#pendingBytes += frame.byteLength
    this.#unwritten.push(frame)
    this.retryWrites()
  }

  /** Returns what is wrong with the disk; undefined: everything is written. */
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
      // A full disk takes a part of it, and says so at the next try.
      while (written < frame.byteLength) written += writeSync(file, frame, written)
    } catch (error) {
      if (written > 0) this.#dropTail(file)
      throw error
    }
    this.#length += frame.byteLength
    this.#isDirty = true
  }

  /** A part of a record must not stand before the next one: both would be one damaged line. */
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

  /** Reads the records from a place on, at least one if there is one, at most about 256 KiB. */
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
   * Everything before `place` is delivered: whole segments of it are deleted. Whoever reads the journal after this process begins at
   * the place that was saved last, and delivers what came between the two again. Ingest knows the keys.
   */
  acknowledge(place: JournalPlace, bytes: number): void {
    this.#pendingBytes -= bytes
    this.#delivered = place
    this.#unsynced.forgetUpTo(place)
    // Whoever has taken the folder over delivers the same records again.
    if (!this.checkFolder()) return
    for (; this.#oldest < place.segment; this.#oldest++) removeIfThere(this.#pathOf(this.#oldest))
  }

  /** Saves how far the records are delivered. Calls go on meanwhile: a rename may wait for the disk for many milliseconds. */
  savePosition(): Promise<void> {
    this.#saving ??= this.#writePosition().finally(() => (this.#saving = undefined))
    return this.#saving
  }

  async #writePosition(): Promise<void> {
    const place = this.#delivered
    if (place === this.#saved || !this.checkFolder()) return
    // Replaced in one step, so that a reader finds the old one or the new one.
    const path = positionPath(this.folder)
    await writeFile(`${path}.new`, JSON.stringify(place), { mode: 0o600 })
    await rename(`${path}.new`, path)
    this.#saved = place
  }

  /** Whether everything is delivered. */
  get isDrained(): boolean {
    const { segment, offset } = this.#delivered
    const { end } = this
    return this.#unwritten.length === 0 && segment === end.segment && offset === end.offset
  }

  /** Has the disk keep what was written before. A power loss takes the records that were written after the last of these. */
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

/** Resolves to what was wrong. */
function syncFile(file: number): Promise<Error | undefined> {
  return new Promise((resolve) => fsync(file, (error) => resolve(error ?? undefined)))
}

export function segmentPath(folder: string, segment: number): string {
  return join(folder, `${segment.toString().padStart(10, '0')}.journal`)
}

/** Reads whole lines; a segment whose last line has no end ends before it, unless more is written. */
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
    // One line may be longer than what was read.
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

/** Holds where the first record begins that is not known to be delivered. */
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
