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

/** The log as it lies on disk, read by any process as far as it is durable. */
export class LogReader {
  readonly #folder: string
  readonly #durable: () => DurableState
  readonly #headers = new Map<number, SegmentHeader>()
  /** By number, the least recently opened first; most of them are at rest. */
  readonly #segments = new Map<number, Segment>()
  /** Those that are not at rest, the least recently used first. */
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
    return this.#whileItIsKept((state) => this.#oldest(state, stream))
  }

  async read(stream: number, fromOffset: number, limits: ReadLimits): Promise<LogRecord[]> {
    const records: LogRecord[] = []
    const budget = { records: limits.recordsMax, bytes: limits.bytesMax }
    let offset = fromOffset
    for (;;) {
      const chunk = this.#whileItIsKept((state) => {
        const oldest = this.#oldest(state, stream)
        // What was trimmed is passed over, but not in the middle of an answer.
        if (offset < oldest && records.length > 0) return 'end'
        offset = Math.max(offset, oldest)
        if (offset >= (state.heads[stream] ?? 0)) return 'end'
        try {
          return this.#chunkWith(state, stream, offset)
        } catch (error) {
          // What comes before the damage is answered; the next read meets it.
          if (error instanceof LogDamagedError && records.length > 0) return 'end'
          throw error
        }
      })
      if (chunk === 'end') return records
      // A long way to the record is gone in steps, so that others are served in between.
      if (chunk === 'not yet') await nextTurn()
      else if (chunk.collect(stream, offset, records, budget)) offset = records.at(-1)!.offset + 1
      else return records
    }
  }

  /** Header of a segment that is kept. Throws ENOENT for a trimmed one, DataFolderError where the file is missing. */
  header(number: number): SegmentHeader {
    let header = this.#headers.get(number)
    if (header === undefined) {
      header = this.#withFile(number, () => readSegmentHeader(this.#folder, number))
      this.#headers.set(number, header)
    }
    return header
  }

  /** The topics of the log, as of now. */
  topics(): TopicCatalogue {
    return this.header(this.#durable().segment).topics
  }

  /** Takes over a segment that was opened and read elsewhere. */
  adopt(segment: Segment): void {
    this.#segments.set(segment.header.number, segment)
    this.#awake.set(segment.header.number, segment)
  }

  close(): void {
    for (const segment of this.#segments.values()) segment.close()
    this.#segments.clear()
    this.#awake.clear()
  }

  /** A segment at the start whose header is damaged is as good as trimmed: nothing in it can be found. */
  #oldest(state: DurableState, stream: number): number {
    return this.#headsFrom(state, state.oldestSegment)[stream] ?? 0
  }

  /** Heads of the first segment from `number` on whose header can be read. */
  #headsFrom(state: DurableState, number: number): readonly number[] {
    for (let at = number; at <= state.segment; at += 1) {
      const header = this.#readableHeader(at)
      if (header !== undefined) return header.heads
    }
    return state.heads
  }

  /** Undefined when it is damaged or missing. Throws ENOENT for a trimmed segment. */
  #readableHeader(number: number): SegmentHeader | undefined {
    try {
      return this.header(number)
    } catch (error) {
      if (error instanceof DataFolderError) return undefined
      throw error
    }
  }

  /** Throws LogDamagedError where the record is in a segment that cannot be read up to it. */
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
    // The heads promise the record before the end; a segment that ends without it has lost it. A step may end where it
    // began: a chunk that is full makes room for the next one.
    const isReadOn = segment.next.at < end && segment.readOn(end)
    if (segment.hasRead(stream, offset)) return segment.chunkWith(stream, offset)
    if (isReadOn) return 'not yet'
    // Throws where it is the next segment that is missing or has a damaged header: the record may stand there.
    if (number < state.segment) this.header(number + 1)
    throw segment.damagedAt(segment.next.at)
  }

  /**
   * Runs a step that opens the file of a segment. The log says that a segment is trimmed before its file is deleted, so a
   * file that is not there although the log keeps it was lost, and that is damage.
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

  /** Where the segment's commits end. Undefined where the header of the next segment, which says so, cannot be read. */
  #endOf(state: DurableState, number: number): number | undefined {
    if (number === state.segment) return state.end
    return this.#readableHeader(number + 1)?.previousEnd
  }

  /** The last segment whose records of the stream do not start behind the offset. */
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

  /** The same where some header cannot be read: the last one of those whose header can. */
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
      // It must not forget how far it was read: readers that take turns in more segments would never arrive.
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
    for (const number of this.#segments.keys()) {
      if (number < oldestSegment) this.#closeSegment(number)
    }
  }

  #closeSegment(number: number): void {
    this.#segments.get(number)!.close()
    this.#segments.delete(number)
    this.#awake.delete(number)
  }

  /** Looks again when a segment was trimmed between the look at the state and the look at its file. */
  #whileItIsKept<Result>(look: (state: DurableState) => Result): Result {
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

function firstKey(map: ReadonlyMap<number, unknown>): number {
  return map.keys().next().value!
}

/** Open files, and with them the chunks that each keeps. */
const awakeMax = 3
/** Segments whose places are known, about 25 kB each in the usual size. More than take turns at being read. */
const segmentsMax = 256
