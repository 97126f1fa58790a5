import { hash } from 'node:crypto'
import { writeMarkId } from '@tollgate/platform/hot-state/mark-id'
import type { CountingWindow } from './counting-windows.ts'
import { digestBytes } from './digest-table.ts'
import { OpenRows, rowsMax, type SortedRows } from './tail-rows.ts'

/** Identifies what is summed: one meter of one subject and product. */
export type Series = {
  readonly subject: string
  /** The product, or '' for usage that names none. */
  readonly scope: string
  readonly meterName: string
}

/**
 * Most records of a chunk. The absolute value of a record is at most 9e15, so the sums of 1,024 of them fit into 64
 * bits. Also most records that are folded a second time when the fence stops inside the chunk.
 */
export const chunkRecordsMax = rowsMax

/** Most bytes that one record of a closed chunk adds: a row, its series and its key, in arrays that are at least half or a quarter full. */
export const bytesPerRecordMost = 2 * (8 + 8 + 4) + 2 * 4 * (digestBytes + 4)

/**
 * What consecutive records of one partition add to the counters: sums by series and second. Its memory depends on the
 * number of records, never on what they contain.
 */
export class TailChunk {
  readonly fromOffset: number
  #toOffset: number
  #rows: OpenRows | SortedRows = new OpenRows()

  constructor(fromOffset: number) {
    this.fromOffset = fromOffset
    this.#toOffset = fromOffset
  }

  /** The offset after the last record that was added. */
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

  /** Notes that all records before `offset` were added. */
  advanceTo(offset: number): void {
    this.#toOffset = offset
  }

  /** `value` in 10^-6 units. Throws once the chunk is closed. */
  add(series: Series, second: number, value: number): void {
    if (!(this.#rows instanceof OpenRows)) throw new Error('A closed chunk takes no records')
    this.#rows.add(digestOfSeries(series), second, BigInt(value))
  }

  /** Notes that no record will be added any more. Sums cost a binary search from then on. */
  close(): void {
    if (this.#rows instanceof OpenRows) this.#rows = this.#rows.sort()
  }

  /** Adds to `sums` what the series used in each of the windows, which must not overlap. */
  addTo(sums: Map<string, bigint>, series: SeriesDigest, windows: readonly CountingWindow[]): void {
    this.#rows.addTo(sums, series, windows)
  }
}

export type SeriesDigest = Uint32Array

/** Lengths in front keep the parts apart, whatever characters the client's text has. */
export function digestOfSeries({ subject, scope, meterName }: Series): SeriesDigest {
  const text = `${subject.length},${scope.length},${subject}${scope}${meterName}`
  const known = knownSeries.get(text)
  if (known !== undefined) return known
  const bytes = hash('sha256', text, 'buffer')
  const digest = new Uint32Array(
    bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + digestBytes),
  )
  // Cheaper than keeping an order, and right again within one record of each series.
  if (knownSeries.size >= knownSeriesMax) knownSeries.clear()
  knownSeries.set(text, digest)
  return digest
}

/** Spares most records the hashing, which costs as much as all else that is done for them. */
const knownSeries = new Map<string, SeriesDigest>()
const knownSeriesMax = 4_096

export type IdDigest = Uint32Array

const idBytes = Buffer.alloc(digestBytes)
const idWords = new Uint32Array(digestBytes / 4)

/** Returns memory that is reused: the digest is good until the next call. */
export function digestOfId(id: string): IdDigest {
  writeMarkId(id, idBytes, 0)
  for (let word = 0; word < idWords.length; word += 1) {
    idWords[word] = idBytes.readUInt32LE(word * 4)
  }
  return idWords
}
