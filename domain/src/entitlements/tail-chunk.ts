import { hash } from 'node:crypto'
import { writeMarkId } from '@tollgate/platform/hot-state/mark-id'
import type { CountingWindow } from './counting-windows.ts'
import { digestBytes } from './digest-table.ts'
import { OpenRows, rowsMax, type SortedRows } from './tail-rows.ts'

/** Identifies what is summed up: one meter of one subject and product. */
export type Series = {
  readonly subject: string
  /** The product, or '' for usage without a product. */
  readonly scope: string
  readonly meterName: string
}

/**
 * Largest number of records in a chunk. The absolute value of a record is at most 9e15 on each meter, so the sum of
 * 1,024 records fits into 64 bits. Also the largest number of records that are folded a second time if the fence lies
 * inside the chunk. A chunk whose records count on several meters ends earlier, when its rows are full.
 */
export const chunkRecordsMax = rowsMax

/**
 * Largest number of bytes that one count of a closed chunk adds: a row, its series and its record's key. The row arrays are at
 * least half full, and the digest tables at least a quarter.
 */
export const bytesPerRecordMost = 2 * (8 + 8 + 4) + 2 * 4 * (digestBytes + 4)

/**
 * The amounts that consecutive records of one partition add to the counters: sums per series and second. The memory
 * depends on the number of records, never on their content.
 */
export class TailChunk {
  readonly fromOffset: number
  #toOffset: number
  #rows: OpenRows | SortedRows = new OpenRows()

  constructor(fromOffset: number) {
    this.fromOffset = fromOffset
    this.#toOffset = fromOffset
  }

  /** The offset after the last added record. */
  get toOffset(): number {
    return this.#toOffset
  }

  /** The first offset that belongs to the next chunk. */
  get endsAt(): number {
    return this.fromOffset + chunkRecordsMax
  }

  get bytes(): number {
    return this.#rows.bytes
  }

  /** Marks all records before `offset` as added. */
  advanceTo(offset: number): void {
    this.#toOffset = offset
  }

  /** Returns whether a record with so many counts fits. A record without room begins the next chunk. */
  hasRoomFor(counts: number): boolean {
    return !(this.#rows instanceof OpenRows) || this.#rows.count + counts <= rowsMax
  }

  /** Adds what a record counts on one meter. `value` is in 10^-6 units. Throws if the chunk is closed. */
  add(series: Series, second: number, value: number): void {
    if (!(this.#rows instanceof OpenRows))
      throw new Error('Records cannot be added to a closed chunk')
    this.#rows.add(digestOfSeries(series), second, BigInt(value))
  }

  /** Closes the chunk: no record can be added afterwards. From then on, a sum costs a binary search. */
  close(): void {
    if (this.#rows instanceof OpenRows) this.#rows = this.#rows.sort()
  }

  /** Adds the usage of the series in each window to `sums`. The windows must not overlap. */
  addTo(sums: Map<string, bigint>, series: SeriesDigest, windows: readonly CountingWindow[]): void {
    this.#rows.addTo(sums, series, windows)
  }
}

export type SeriesDigest = Uint32Array

/**
 * Returns the digest of a series. The lengths at the beginning keep the parts apart, whatever characters the client's
 * text contains.
 */
export function digestOfSeries({ subject, scope, meterName }: Series): SeriesDigest {
  const text = `${subject.length},${scope.length},${subject}${scope}${meterName}`
  const known = knownSeries.get(text)
  if (known !== undefined) return known
  const bytes = hash('sha256', text, 'buffer')
  const digest = new Uint32Array(
    bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + digestBytes),
  )
  // Clearing everything is cheaper than tracking the order of use. The cache is full again after one record of each
  // series.
  if (knownSeries.size >= knownSeriesMax) knownSeries.clear()
  knownSeries.set(text, digest)
  return digest
}

/**
 * Cache of digests. It saves the hashing for most records, which costs as much as everything else that is done for
 * them.
 */
const knownSeries = new Map<string, SeriesDigest>()
const knownSeriesMax = 4_096

export type IdDigest = Uint32Array

const idBytes = Buffer.alloc(digestBytes)
const idWords = new Uint32Array(digestBytes / 4)

/** Returns the digest of an id, in memory that is reused: the digest is valid until the next call. */
export function digestOfId(id: string): IdDigest {
  writeMarkId(id, idBytes, 0)
  for (let word = 0; word < idWords.length; word += 1) {
    idWords[word] = idBytes.readUInt32LE(word * 4)
  }
  return idWords
}
