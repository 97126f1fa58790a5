import { randomBytes } from 'node:crypto'
import type { FileHandle } from 'node:fs/promises'
import type { CommitBuffer } from './commit-format.ts'
import type { DurableState } from './durable-state.ts'
import { discardPrepared, installSegment, prepareSegment } from './new-segment.ts'
import type { SegmentHeader } from './segment-header.ts'
import type { TopicCatalogue } from './topic-catalogue.ts'
import { writeWhole, writeWholeAsync } from './write-whole.ts'

/** Where a log ends, and the file that is open there for commits. */
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

/** The end of the log. Takes one commit at a time and brings it to the disk; the caller waits for one before the next. */
export class LogTail {
  readonly #durable: { segment: number; end: number; oldestSegment: number; heads: number[] }
  readonly #folder: string
  readonly #segmentBytesMax: number
  #topics: TopicCatalogue
  #file: FileHandle
  #mark: Buffer
  /** Where the segment's first commit starts, and where the last one must end. */
  #start: number
  #capacity: number
  #sequence: number
  #newestMs: number
  /** The next segment's file is being made, or is there. */
  #prepared: Promise<void> | undefined
  /** A failed write may have left bytes behind the end. */
  #mustCut = false
  /** The segment takes no more commits: its successor may be on the disk already. */
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

  /** As of the last commit; the same object each time. */
  get durable(): DurableState {
    return this.#durable
  }

  get topics(): TopicCatalogue {
    return this.#topics
  }

  /** Calls `written` when the commit is on the disk, or when nothing of it is kept. */
  write(commit: CommitBuffer, written: Written): void {
    if (this.#hasRoom(commit.bytes)) {
      this.#put(commit, written)
    } else {
      this.#makeRoom(commit.bytes).then(() => this.#put(commit, written), written)
    }
  }

  /** Rejects when a commit would fail now. */
  async probe(): Promise<void> {
    await this.#makeRoom(0)
    try {
      // Zeros behind the end are what stands there anyway.
      await writeWholeAsync(this.#file.fd, Buffer.alloc(probeBytes), this.#durable.end)
    } catch (error) {
      await this.#undo()
      throw error
    }
  }

  /** Goes on in a new segment, whose header has these topics. */
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

  /** From now on the oldest segment is no part of the log. Returns its number. */
  dropOldest(): number {
    return this.#durable.oldestSegment++
  }

  async close(): Promise<void> {
    await this.#prepared?.catch(() => undefined)
    discardPrepared(this.#folder)
    await this.#file.close()
  }

  /** An empty segment takes a commit of any size. */
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
      // It is tried again when the segment is full, and then its error counts.
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

  /** Segments double from small ones on, so that a log takes disk in proportion to its use. */
  #nextCapacity(): number {
    return Math.min(Math.max(this.#capacity * 2, firstSegmentBytes), this.#segmentBytesMax)
  }

  /** What failed may be there in part or whole, and must be gone before anybody hears of the failure. */
  async #undo(): Promise<void> {
    this.#mustCut = true
    // If that fails too, it is tried again before anything else is written. Only a crash before that can leave a commit
    // that was refused.
    await this.#cut().catch(() => undefined)
  }

  async #cut(): Promise<void> {
    await this.#file.truncate(this.#durable.end)
    await this.#file.datasync()
    this.#mustCut = false
  }
}

export const firstSegmentBytes = 2 ** 20
/** As much as a busy commit takes, so that the last free page does not pass for room. */
const probeBytes = 128 * 1024
