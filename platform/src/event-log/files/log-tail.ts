import { randomBytes } from 'node:crypto'
import type { FileHandle } from 'node:fs/promises'
import type { CommitBuffer } from './commit-format.ts'
import type { DurableState } from './durable-state.ts'
import { discardPrepared, installSegment, prepareSegment } from './new-segment.ts'
import type { SegmentHeader } from './segment-header.ts'
import type { TopicCatalogue } from './topic-catalogue.ts'
import { writeWhole, writeWholeAsync } from './write-whole.ts'

/** The end of a log, and the file that is open for its commits. */
export type TailPlace = {
  readonly file: FileHandle
  readonly fileBytes: number
  readonly header: SegmentHeader
  readonly end: number
  readonly sequence: number
  readonly newestMs: number
  readonly heads: readonly number[]
  readonly oldestSegment: number
}

type Written = (error?: Error) => void

/** Appends to the end of the log. Writes one commit at a time: the caller waits for one before the next. */
export class LogTail {
  readonly #durable: { segment: number; end: number; oldestSegment: number; heads: number[] }
  readonly #folder: string
  readonly #segmentBytesMax: number
  #topics: TopicCatalogue
  #file: FileHandle
  #mark: Buffer
  /** Start of the first commit, and the size at which the segment is full. */
  #start: number
  #capacity: number
  #sequence: number
  #newestMs: number
  /** Set while the file of the next segment is being created, or exists. */
  #prepared: Promise<void> | undefined
  /** A failed write may have left bytes after the end. */
  #mustCut = false
  /** The segment accepts no more commits, because its successor may already be on disk. */
  #isSealed = false

  constructor(folder: string, segmentBytesMax: number, place: TailPlace) {
    this.#folder = folder
    this.#segmentBytesMax = segmentBytesMax
    this.#topics = place.header.topics
    this.#file = place.file
    this.#mark = place.header.mark
    this.#start = place.header.bytes
    this.#capacity = place.fileBytes
    this.#sequence = place.sequence
    this.#newestMs = place.newestMs
    this.#durable = {
      segment: place.header.number,
      end: place.end,
      oldestSegment: place.oldestSegment,
      heads: [...place.heads],
    }
  }

  /** The state after the last commit. It is the same object each time. */
  get durable(): DurableState {
    return this.#durable
  }

  get topics(): TopicCatalogue {
    return this.#topics
  }

  /** Calls `written` when the commit is durable, or with an error when nothing of it remains. */
  write(commit: CommitBuffer, written: Written): void {
    if (this.#hasRoom(commit.bytes)) {
      this.#put(commit, written)
    } else {
      this.#makeRoom(commit.bytes).then(() => this.#put(commit, written), written)
    }
  }

  /** Rejects if a commit would fail now. */
  async probe(): Promise<void> {
    await this.#makeRoom(0)
    try {
      // The file contains zeros after the end anyway.
      await writeWholeAsync(this.#file.fd, Buffer.alloc(probeBytes), this.#durable.end)
    } catch (error) {
      await this.#undo()
      throw error
    }
  }

  /** Starts a new segment whose header has these topics. */
  async roll(topics: TopicCatalogue): Promise<void> {
    this.#isSealed = true
    await this.#prepare()
    this.#prepared = undefined
    const capacity = this.#nextCapacity()
    const durable = this.#durable
    const heads = Array.from({ length: topics.streamCount }, (_, at) => durable.heads[at] ?? 0)
    const { file, header } = await installSegment(this.#folder, {
      number: durable.segment + 1,
      topics,
      heads,
      sequence: this.#sequence,
      mark: randomBytes(8),
      previousEnd: durable.end,
      previousNewestMs: this.#newestMs,
    })
    const full = this.#file
    this.#topics = topics
    this.#file = file
    this.#mark = header.mark
    this.#start = header.bytes
    this.#capacity = capacity
    this.#newestMs = 0
    this.#isSealed = false
    durable.segment = header.number
    durable.end = header.bytes
    durable.heads = heads
    await full.close()
  }

  /** Removes the oldest segment from the log. Returns its number. */
  dropOldest(): number {
    return this.#durable.oldestSegment++
  }

  async close(): Promise<void> {
    await this.#prepared?.catch(() => undefined)
    discardPrepared(this.#folder)
    await this.#file.close()
  }

  /** Returns whether the segment has room for the commit. An empty segment accepts a commit of any size. */
  #hasRoom(bytes: number): boolean {
    const { end } = this.#durable
    const isLarge = end + bytes > this.#capacity && end > this.#start
    return !this.#mustCut && !this.#isSealed && !isLarge
  }

  async #makeRoom(bytes: number): Promise<void> {
    if (this.#mustCut) await this.#cut()
    if (!this.#hasRoom(bytes)) await this.roll(this.#topics)
  }

  #put(commit: CommitBuffer, written: Written): void {
    const bytes = commit.finish(this.#sequence, this.#mark)
    writeWhole(this.#file.fd, bytes, this.#durable.end, (error) => {
      if (error === null) {
        this.#advance(commit)
        written()
      } else {
        void this.#undo().then(() => written(error))
      }
    })
  }

  #advance(commit: CommitBuffer): void {
    const durable = this.#durable
    durable.end += commit.bytes
    for (let stream = 0; stream < commit.counts.length; stream += 1) {
      durable.heads[stream]! += commit.counts[stream]!
    }
    this.#sequence += 1
    this.#newestMs = Math.max(this.#newestMs, commit.newestMs)
    if (this.#prepared === undefined && durable.end > this.#capacity / 2) {
      // It is retried when the segment is full, and then its error counts.
      this.#prepare().catch(() => undefined)
    }
  }

  #prepare(): Promise<void> {
    this.#prepared ??= prepareSegment(this.#folder, this.#nextCapacity()).catch(
      (error: unknown) => {
        this.#prepared = undefined
        throw error
      },
    )
    return this.#prepared
  }

  /** The size of segments doubles from a small one on, so that the log uses disk space in proportion to its use. */
  #nextCapacity(): number {
    return Math.min(Math.max(this.#capacity * 2, firstSegmentBytes), this.#segmentBytesMax)
  }

  /** Removes what a failed write left in the file, before the failure is reported. */
  async #undo(): Promise<void> {
    this.#mustCut = true
    // If that fails as well, it is retried before the next write. Only a crash before that can leave a refused commit in the log.
    await this.#cut().catch(() => undefined)
  }

  async #cut(): Promise<void> {
    await this.#file.truncate(this.#durable.end)
    await this.#file.datasync()
    this.#mustCut = false
  }
}

export const firstSegmentBytes = 2 ** 20
/** Size of a typical large commit, so that a single free page does not count as room. */
const probeBytes = 128 * 1024
