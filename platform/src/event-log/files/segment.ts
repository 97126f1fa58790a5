import { closeSync, fstatSync, openSync } from 'node:fs'
import { DataFolderError } from '../../lmdb/environment.ts'
import { Chunk, type CommitPlace } from './chunk.ts'
import { readHeader, segmentPath } from './segment-files.ts'
import type { SegmentHeader } from './segment-header.ts'

/**
 * Reads one segment. It is read from its start as far as requested. The positions of the chunks already read stay in memory, and
 * the most recent chunks. At rest, only the positions stay, so that reading continues where it stopped.
 */
export class Segment {
  readonly header: SegmentHeader
  readonly path: string
  /** Newest receive time that was read. */
  newestMs = -Infinity
  /** File descriptor; undefined at rest. */
  #fd: number | undefined
  readonly #places: CommitPlace[]
  /** Chunks by position, the least recently used first. */
  readonly #chunks = new Map<number, Chunk>()
  /** The last chunk. Later commits are added to it. */
  #tail: Chunk

  private constructor(path: string, fd: number, header: SegmentHeader) {
    this.path = path
    this.#fd = fd
    this.header = header
    const first = { at: header.bytes, sequence: header.sequence, heads: header.heads }
    this.#places = [first]
    this.#tail = new Chunk(first)
  }

  /** Opens the segment. The file stays readable if it is deleted later. */
  static open(folder: string, number: number): Segment {
    const path = segmentPath(folder, number)
    const fd = openSync(path, 'r')
    try {
      return new Segment(path, fd, readHeader(fd, path))
    } catch (error) {
      closeSync(fd)
      throw error
    }
  }

  /** The position after the last commit that was read. */
  get next(): CommitPlace {
    return this.#tail.next
  }

  /** Returns whether the record has been read, so that `chunkWith` can return it. */
  hasRead(stream: number, offset: number): boolean {
    return offset < (this.#tail.heads[stream] ?? 0)
  }

  /** Reads at most one more chunk. Returns false if the next bytes before `limit` (bytes of the file) are not a valid commit. */
  readOn(limit: number): boolean {
    const outcome = this.#tail.extend(this.#file(), limit, this.header.mark)
    this.newestMs = Math.max(this.newestMs, this.#tail.newestMs)
    if (outcome === 'full') {
      this.#keep(this.#places.length - 1, this.#tail)
      const place = this.#tail.next
      this.#places.push(place)
      this.#tail = new Chunk(place)
    }
    return outcome !== 'stopped'
  }

  /** Returns the chunk with this record, which must have been read. */
  chunkWith(stream: number, offset: number): Chunk {
    const index = lastAtOrBefore(this.#places, stream, offset)
    if (index === this.#places.length - 1) return this.#tail
    const chunk = this.#chunks.get(index) ?? this.#load(index)
    this.#keep(index, chunk)
    return chunk
  }

  fileBytes(): number {
    return fstatSync(this.#file()).size
  }

  damagedAt(at: number): DataFolderError {
    return new DataFolderError(
      `The event log is damaged: ${this.path} has no valid commit at byte ${at}.`,
    )
  }

  /** Closes the file and releases memory. The next read opens the file again, and throws ENOENT if it was deleted. */
  rest(): void {
    this.close()
    this.#chunks.clear()
    this.#tail = new Chunk(this.#places.at(-1)!)
  }

  close(): void {
    if (this.#fd !== undefined) closeSync(this.#fd)
    this.#fd = undefined
  }

  #file(): number {
    this.#fd ??= openSync(this.path, 'r')
    return this.#fd
  }

  #load(index: number): Chunk {
    const place = this.#places[index]!
    const end = this.#places[index + 1]!.at
    const chunk = new Chunk(place, end - place.at)
    if (chunk.extend(this.#file(), end, this.header.mark) !== 'at limit') {
      throw this.damagedAt(chunk.next.at)
    }
    return chunk
  }

  #keep(index: number, chunk: Chunk): void {
    this.#chunks.delete(index)
    this.#chunks.set(index, chunk)
    if (this.#chunks.size <= chunksMax) return
    const [oldest] = this.#chunks.keys()
    this.#chunks.delete(oldest!)
  }
}

/** Returns the index of the last position whose head of the stream is at or before the offset. */
function lastAtOrBefore(
  places: readonly Pick<CommitPlace, 'heads'>[],
  stream: number,
  offset: number,
): number {
  let low = 0
  let high = places.length - 1
  while (low < high) {
    const middle = Math.ceil((low + high) / 2)
    if ((places[middle]!.heads[stream] ?? 0) <= offset) low = middle
    else high = middle - 1
  }
  return low
}

/**
 * Maximum chunks in memory, 16 MiB at the usual size. A projection reads its partitions one after the other, all from the same part
 * of the log.
 */
const chunksMax = 64
