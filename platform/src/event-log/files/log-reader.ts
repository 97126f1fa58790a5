import { setImmediate as nextTurn } from 'node:timers/promises'
import type { LogRecord, ReadLimits } from '../event-log.ts'
import type { Chunk } from './chunk.ts'
import type { DurableState } from './durable-state.ts'
import { DataFolderError } from '../../lmdb/environment.ts'
import { LogDamagedError } from '../log-damaged-error.ts'
import { readSegmentHeader, segmentMissing } from './segment-files.ts'
import type { SegmentHeader } from './segment-header.ts'
import { Segment } from './segment.ts'
import type { TopicCatalogue } from './topic-catalogue.ts'

/** Reads the durable part of the log from disk, in any process. */
export class LogReader {
  readonly #folder: string
  readonly #durable: () => DurableState
  readonly #headers = new Map<number, SegmentHeader>()
  /** Why headers could not be read, and when they are read again, in milliseconds since the start of the process. */
  readonly #headerFailures = new Map<
    number,
    { readonly error: DataFolderError; readonly readAgainAt: number }
  >()
  /** Opened segments by number, the least recently opened first. Most of them are at rest. */
  readonly #segments = new Map<number, Segment>()
  /** Segments that are not at rest, the least recently used first. */
  readonly #awake = new Map<number, Segment>()
  #oldestSegment = 0

  constructor(folder: string, durable: () => DurableState) {
    this.#folder = folder
    this.#durable = durable
  }

  head(stream: number): number {
    return this.#durable().heads[stream] ?? 0
  }

  oldest(stream: number): number {
    return this.#retryIfTrimmed((state) => this.#oldest(state, stream))
  }

  async read(stream: number, fromOffset: number, limits: ReadLimits): Promise<LogRecord[]> {
    const records: LogRecord[] = []
    const budget = { records: limits.recordsMax, bytes: limits.bytesMax }
    let offset = fromOffset
    for (;;) {
      const chunk = this.#retryIfTrimmed((state) => {
        const oldest = this.#oldest(state, stream)
        // Trimmed records are skipped, but not in the middle of a result.
        if (offset < oldest && records.length > 0) return 'end'
        offset = Math.max(offset, oldest)
        if (offset >= (state.heads[stream] ?? 0)) return 'end'
        try {
          return this.#chunkWith(state, stream, offset)
        } catch (error) {
          // Records before the damage are returned; the next read throws.
          if (error instanceof LogDamagedError && records.length > 0) return 'end'
          throw error
        }
      })
      if (chunk === 'end') return records
      // A long search is done in steps, so that other work is served in between.
      if (chunk === 'not yet') await nextTurn()
      else if (chunk.collect(stream, offset, records, budget)) offset = records.at(-1)!.offset + 1
      else return records
    }
  }

  /**
   * Returns the header of a segment that belongs to the log. Throws ENOENT for a trimmed segment, and a DataFolderError if the file
   * is missing.
   */
  header(number: number): SegmentHeader {
    const known = this.#headers.get(number)
    if (known !== undefined) return known
    const failure = this.#headerFailures.get(number)
    if (failure !== undefined && performance.now() < failure.readAgainAt) throw failure.error
    try {
      const header = this.#withFile(number, () => readSegmentHeader(this.#folder, number))
      this.#headers.set(number, header)
      return header
    } catch (error) {
      const readAgainAt = performance.now() + readAgainAfterMs
      if (error instanceof DataFolderError) this.#headerFailures.set(number, { error, readAgainAt })
      throw error
    }
  }

  /** Returns the current topics of the log. */
  topics(): TopicCatalogue {
    return this.header(this.#durable().segment).topics
  }

  /** Adds a segment that was opened and read elsewhere. */
  adopt(segment: Segment): void {
    this.#segments.set(segment.header.number, segment)
    this.#awake.set(segment.header.number, segment)
  }

  close(): void {
    for (const segment of this.#segments.values()) segment.close()
    this.#segments.clear()
    this.#awake.clear()
  }

  /**
   * Returns the oldest readable offset. If the header of the first segment is damaged, nothing in it can be found, so it counts as
   * trimmed.
   */
  #oldest(state: DurableState, stream: number): number {
    return this.#headsFrom(state, state.oldestSegment)[stream] ?? 0
  }

  /** Returns the heads of the first segment from `number` on whose header can be read. */
  #headsFrom(state: DurableState, number: number): readonly number[] {
    for (let at = number; at <= state.segment; at += 1) {
      const header = this.#readableHeader(at)
      if (header !== undefined) return header.heads
    }
    return state.heads
  }

  /** Returns undefined if the header is damaged or missing. Throws ENOENT for a trimmed segment. */
  #readableHeader(number: number): SegmentHeader | undefined {
    try {
      return this.header(number)
    } catch (error) {
      if (error instanceof DataFolderError) return undefined
      throw error
    }
  }

  /** Throws a LogDamagedError if the record is in a segment that cannot be read up to it. */
  #chunkWith(state: DurableState, stream: number, offset: number): Chunk | 'not yet' {
    const number = this.#numberWith(state, stream, offset)
    try {
      return this.#withFile(number, () => this.#readIn(state, number, stream, offset))
    } catch (error) {
      if (!(error instanceof DataFolderError)) throw error
      const readableFrom = this.#headsFrom(state, number + 1)[stream] ?? 0
      throw new LogDamagedError(error, Math.max(readableFrom, offset + 1))
    }
  }

  #readIn(state: DurableState, number: number, stream: number, offset: number): Chunk | 'not yet' {
    const segment = this.#open(number)
    if (segment.hasRead(stream, offset)) return segment.chunkWith(stream, offset)
    const end = this.#endOf(state, number) ?? segment.fileBytes()
    // According to the heads, the record is before the end; if the segment ends without it, the record is lost. A step may end
    // where it began: a chunk that is full makes room for the next one.
    const isReadOn = segment.next.at < end && segment.readOn(end)
    if (segment.hasRead(stream, offset)) return segment.chunkWith(stream, offset)
    if (isReadOn) return 'not yet'
    // Throws if the next segment is missing or has a damaged header: the record may be there.
    if (number < state.segment) this.header(number + 1)
    throw segment.damagedAt(segment.next.at)
  }

  /**
   * Runs a step that opens the file of a segment. The log records that a segment is trimmed before its file is deleted. So if a
   * file is missing that still belongs to the log, it was lost, which is damage.
   */
  #withFile<Result>(number: number, step: () => Result): Result {
    try {
      return step()
    } catch (error) {
      const isGone = (error as NodeJS.ErrnoException).code === 'ENOENT'
      if (!isGone || number < this.#durable().oldestSegment) throw error
      throw segmentMissing(this.#folder, number)
    }
  }

  /** Returns where the commits of the segment end. The header of the next segment contains that; undefined if it cannot be read. */
  #endOf(state: DurableState, number: number): number | undefined {
    if (number === state.segment) return state.end
    return this.#readableHeader(number + 1)?.previousEnd
  }

  /** Returns the last segment whose records of the stream start at or before the offset. */
  #numberWith(state: DurableState, stream: number, offset: number): number {
    let low = state.oldestSegment
    let high = state.segment
    while (low < high) {
      const middle = Math.ceil((low + high) / 2)
      const header = this.#readableHeader(middle)
      if (header === undefined) return this.#readableNumberWith(state, stream, offset)
      if ((header.heads[stream] ?? 0) <= offset) low = middle
      else high = middle - 1
    }
    return low
  }

  /** As `#numberWith`, but considers only segments whose header can be read. */
  #readableNumberWith(state: DurableState, stream: number, offset: number): number {
    let found = state.oldestSegment
    for (let at = state.oldestSegment; at <= state.segment; at += 1) {
      const header = this.#readableHeader(at)
      if (header === undefined) continue
      if ((header.heads[stream] ?? 0) > offset) break
      found = at
    }
    return found
  }

  #open(number: number): Segment {
    let segment = this.#segments.get(number)
    if (segment === undefined) {
      segment = Segment.open(this.#folder, number)
      this.#segments.set(number, segment)
      if (this.#segments.size > segmentsMax) this.#closeSegment(firstKey(this.#segments))
    }
    this.#awake.delete(number)
    this.#awake.set(number, segment)
    if (this.#awake.size > awakeMax) {
      // It keeps its positions: otherwise readers that alternate between many segments would start over each time.
      const least = firstKey(this.#awake)
      this.#awake.get(least)!.rest()
      this.#awake.delete(least)
    }
    return segment
  }

  #forgetBefore(oldestSegment: number): void {
    if (oldestSegment === this.#oldestSegment) return
    this.#oldestSegment = oldestSegment
    for (const number of this.#headers.keys()) {
      if (number < oldestSegment) this.#headers.delete(number)
    }
    for (const number of this.#headerFailures.keys()) {
      if (number < oldestSegment) this.#headerFailures.delete(number)
    }
    for (const number of this.#segments.keys()) {
      if (number < oldestSegment) this.#closeSegment(number)
    }
  }

  #closeSegment(number: number): void {
    this.#segments.get(number)!.close()
    this.#segments.delete(number)
    this.#awake.delete(number)
  }

  /** Repeats the lookup if a segment was trimmed between reading the state and opening its file. */
  #retryIfTrimmed<Result>(look: (state: DurableState) => Result): Result {
    for (;;) {
      const state = this.#durable()
      const { oldestSegment } = state
      this.#forgetBefore(oldestSegment)
      try {
        return look(state)
      } catch (error) {
        const isGone = (error as NodeJS.ErrnoException).code === 'ENOENT'
        if (!isGone || this.#durable().oldestSegment === oldestSegment) throw error
      }
    }
  }
}

/** Milliseconds until a damaged header is read again. Every search of an offset may need it, and its length may be damaged too. */
const readAgainAfterMs = 1_000

function firstKey(map: ReadonlyMap<number, unknown>): number {
  return map.keys().next().value!
}

/** Maximum open files, each of which keeps its chunks in memory. */
const awakeMax = 3
/** Maximum segments whose positions are in memory, about 25 kB each at the usual size. Readers rarely alternate between more. */
const segmentsMax = 256
