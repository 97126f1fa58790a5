import type { EventLog } from '@tollgate/platform/event-log/event-log'
import type { HotState } from '@tollgate/platform/hot-state/hot-state'
import { countsOf, type CountedUse, type MeterEvent } from '@tollgate/schemas/meter-event'
import { subjectKey } from '@tollgate/schemas/subject'
import type { CountingWindow } from './counting-windows.ts'
import { readTailSlice, type LogPlace, type TailSlice } from './read-tail-slice.ts'
import { FirstUses } from './first-uses.ts'
import { digestOfId, TailChunk, type Series } from './tail-chunk.ts'
import { TailSums, type TailSum } from './tail-sums.ts'

export type PartitionTailParts = {
  readonly log: Pick<EventLog, 'read'>
  readonly hotState: Pick<HotState, 'readMarks' | 'appliedOffset'>
}

export type TailPlace = LogPlace & { readonly space: string }

/**
 * Sums of the records of one partition from the counters' fence to the end of the log, as far as a caller needed them.
 * Every record is read and folded once, however many callers need it. Records before the fence are dropped.
 *
 * A record counts if no earlier record of the log has its idempotency key. This never changes, so the folded sums stay
 * correct whatever happens to the hot state. Keys that were used before the tail are known by their marks, which are
 * complete up to the fence. The keys of the tail are stored here.
 *
 * The owner must not run `advance` and `cutAt` at the same time. It may call `seek` at any time.
 */
export class PartitionTail {
  readonly #parts: PartitionTailParts
  readonly #place: TailPlace
  /** Adjacent chunks in the order of the log. Empty before the first use. */
  #chunks: TailChunk[] = []
  readonly #firstUses = new FirstUses()
  readonly #sums = new TailSums()
  #bytes = 0

  constructor(parts: PartitionTailParts, place: TailPlace) {
    this.#parts = parts
    this.#place = place
  }

  /** Undefined before the first use. */
  get fromOffset(): number | undefined {
    return this.#chunks[0]?.fromOffset
  }

  get toOffset(): number {
    return this.#chunks.at(-1)?.toOffset ?? 0
  }

  get bytes(): number {
    return this.#bytes
  }

  /** Returns the amounts that all chunks together add to the counters. */
  sum(series: readonly Series[], windows: readonly CountingWindow[]): TailSum {
    return this.#sums.sum(this.#chunks, series, windows)
  }

  /**
   * Drops all chunks before the one that contains the fence. If no chunk contains it, an empty tail begins at the
   * fence.
   */
  seek(fence: number): void {
    const at = this.#chunks.findIndex((chunk) => containsOffset(chunk, fence))
    if (at === 0) return
    if (at < 0) {
      this.#firstUses.clear()
      this.#chunks = [new TailChunk(fence)]
    } else {
      this.#chunks.splice(0, at)
      // Only drops up to the start of the chunk, not up to the fence: `cutAt` may be cutting the chunk for a caller
      // with an earlier fence.
      this.#firstUses.dropBefore(this.#chunks[0]!.fromOffset)
    }
    this.#updateBytes()
  }

  clear(): void {
    this.#chunks = []
    this.#firstUses.clear()
    this.#bytes = 0
  }

  /** Folds the next records. Returns 'lost' if the hot state has lost marks that are needed; the tail is then empty. */
  async advance(): Promise<'advanced' | 'lost'> {
    const last = this.#chunks.at(-1)!
    const slice = await readTailSlice(this.#parts.log, this.#place, last.toOffset)
    const { repeated, marked, areMarksWhole } = await this.#readKeys(slice)
    if (!areMarksWhole) {
      this.clear()
      return 'lost'
    }
    // Another caller may have moved the tail to another fence during the read. The caller sees that the end is not
    // reached.
    if (this.#chunks.at(-1) !== last) return 'advanced'
    this.#fold(slice, repeated, marked)
    this.#updateBytes()
    return 'advanced'
  }

  /**
   * Cuts the first chunk so that it begins at the fence, which lies inside it. The remaining records of the chunk are
   * read and folded again.
   */
  async cutAt(fence: number): Promise<void> {
    const whole = this.#chunks[0]!
    const rest = new TailChunk(fence)
    while (rest.toOffset < whole.toOffset) {
      const recordsMax = whole.toOffset - rest.toOffset
      const slice = await readTailSlice(this.#parts.log, this.#place, rest.toOffset, recordsMax)
      for (const { offset, event } of slice.records) {
        // The key's first use was dropped, so it lies before the fence, and this record repeats it.
        const isRepeated =
          event.idempotencyKey !== null && this.#firstUses.find(digestOfId(event.id)) !== offset
        if (!isRepeated) countEvent(rest, event)
      }
      rest.advanceTo(slice.toOffset)
    }
    if (this.#chunks[0] !== whole || whole.toOffset !== rest.toOffset) return
    if (this.#chunks.length > 1) rest.close()
    this.#chunks[0] = rest
    this.#updateBytes()
  }

  /** Returns the keys of the slice that the tail contains, and the marks of the other keys. */
  async #readKeys({ records }: TailSlice) {
    const from = this.fromOffset ?? 0
    const repeated = new Set<string>()
    const unknown = new Set<string>()
    for (const { event } of records) {
      if (event.idempotencyKey === null) continue
      if (this.#firstUses.find(digestOfId(event.id)) !== undefined) repeated.add(event.id)
      else unknown.add(event.id)
    }
    const marked = new Map<string, number>()
    if (unknown.size === 0) return { repeated, marked, areMarksWhole: true }
    const { hotState } = this.#parts
    const { space, partition } = this.#place
    const ids = [...unknown]
    const marks = await hotState.readMarks(space, partition, ids)
    for (const [index, offset] of marks.entries()) {
      if (offset !== undefined) marked.set(ids[index]!, offset)
    }
    // Marks are complete up to the fence. A fence before the tail shows that the hot state was lost, and the marks with
    // it.
    const fence = await hotState.appliedOffset(space, partition)
    return { repeated, marked, areMarksWhole: fence >= from }
  }

  #fold(slice: TailSlice, repeated: ReadonlySet<string>, marked: Map<string, number>): void {
    let chunk = this.#chunks.at(-1)!
    for (const { offset, event } of slice.records) {
      chunk = this.#chunkFor(chunk, offset)
      if (event.idempotencyKey !== null) {
        if (repeated.has(event.id)) continue
        const first = marked.get(event.id) ?? offset
        marked.set(event.id, first)
        if (first !== offset) continue
        this.#firstUses.record(digestOfId(event.id), offset)
      }
      if (!chunk.hasRoomFor(event.counts.length + 1)) chunk = this.#chunkAfter(chunk, offset)
      countEvent(chunk, event)
    }
    this.#chunkFor(chunk, slice.toOffset - 1).advanceTo(slice.toOffset)
  }

  /** Returns the chunk for the record: the given one, or a new one after it. */
  #chunkFor(last: TailChunk, offset: number): TailChunk {
    let chunk = last
    while (offset >= chunk.endsAt) chunk = this.#chunkAfter(chunk, chunk.endsAt)
    return chunk
  }

  /** Closes the last chunk and returns a new one that begins at the offset. */
  #chunkAfter(last: TailChunk, offset: number): TailChunk {
    last.advanceTo(offset)
    last.close()
    const chunk = new TailChunk(offset)
    this.#chunks.push(chunk)
    return chunk
  }

  #updateBytes(): void {
    const sums = this.#chunks.reduce((sum, { bytes }) => sum + bytes, 0)
    this.#bytes = sums + this.#firstUses.bytes
  }
}

/** Returns whether the chunk contains the fence. A chunk without records contains the fence at which it begins. */
function containsOffset({ fromOffset, toOffset }: TailChunk, fence: number): boolean {
  return fromOffset === fence || (fromOffset < fence && fence < toOffset)
}

function countEvent(chunk: TailChunk, event: MeterEvent): void {
  if (event.outcome !== 'success') return
  if (event.counts.length === 0 && event.meterName !== '') return addCount(chunk, event, event)
  for (const count of countsOf(event)) addCount(chunk, event, count)
}

function addCount(chunk: TailChunk, event: MeterEvent, { meterName, value }: CountedUse): void {
  const series = {
    subject: subjectKey(event.providerId, event.customerRef),
    scope: event.productRef ?? '',
    meterName,
  }
  chunk.add(series, Math.floor(event.timestamp / 1000), value)
}
