import type { CountingWindow } from './counting-windows.ts'
import { DigestTable } from './digest-table.ts'

/** Largest number of rows. It fits into 10 bits, so that a row and a second fit into one exact number. */
export const rowsMax = 1_024
const rowsAtFirst = 32
/** Approximate bytes of one cell in a Map whose keys are heap numbers. */
const bytesPerCell = 64

/** Sums per series and second that still grow. Adding an amount costs the same for any number of rows. */
export class OpenRows {
  /** Maps a series to its first row. */
  readonly #series = new DigestTable()
  /** Maps a series and a second to a row. */
  readonly #cells = new Map<number, number>()
  #count = 0
  #seconds = new Float64Array(rowsAtFirst)
  /** 10^-6 units. */
  #amounts = new BigInt64Array(rowsAtFirst)
  /** The first row of the row's series. */
  #firstRows = new Uint32Array(rowsAtFirst)
  /** Next row of the same series, plus 1. 0 if there is none. */
  #nextRows = new Uint32Array(rowsAtFirst)

  get bytes(): number {
    const columns = this.#seconds.byteLength + this.#amounts.byteLength
    const links = this.#firstRows.byteLength + this.#nextRows.byteLength
    return columns + links + this.#series.bytes + this.#cells.size * bytesPerCell
  }

  get count(): number {
    return this.#count
  }

  add(series: Uint32Array, second: number, amount: bigint): void {
    const first = this.#series.find(series)
    const known = first < 0 ? undefined : this.#cells.get(cellOf(first, second))
    if (known !== undefined) {
      this.#amounts[known]! += amount
      return
    }
    if (this.#count === this.#seconds.length) this.#grow()
    const row = this.#count++
    this.#seconds[row] = second
    this.#amounts[row] = amount
    if (first < 0) {
      this.#firstRows[row] = row
      this.#series.set(series, row)
    } else {
      this.#firstRows[row] = first
      this.#nextRows[row] = this.#nextRows[first]!
      this.#nextRows[first] = row + 1
    }
    this.#cells.set(cellOf(this.#firstRows[row], second), row)
  }

  addTo(sums: Map<string, bigint>, series: Uint32Array, windows: readonly CountingWindow[]): void {
    for (let row = this.#series.find(series); row >= 0; row = this.#nextRows[row]! - 1) {
      const second = this.#seconds[row]!
      const window = windows.find(
        ({ fromSecond, toSecond }) => fromSecond <= second && second < toSecond,
      )
      if (window !== undefined) addAmount(sums, window.id, this.#amounts[row]!)
    }
  }

  /** Returns the same sums, ordered by series and second. This object must not be used afterwards. */
  sort(): SortedRows {
    const seconds = this.#seconds
    const firstRows = this.#firstRows
    const order = Array.from({ length: this.#count }, (_, row) => row).sort(
      (one, other) => firstRows[one]! - firstRows[other]! || seconds[one]! - seconds[other]!,
    )
    const starts = new Map<number, number>()
    for (const [at, row] of order.entries()) {
      if (!starts.has(firstRows[row]!)) starts.set(firstRows[row]!, at)
    }
    this.#series.replaceValues((first) => starts.get(first)!)
    return new SortedRows(
      this.#series,
      Float64Array.from(order, (row) => seconds[row]!),
      BigInt64Array.from(order, (row) => this.#amounts[row]!),
      Uint32Array.from(order, (row) => starts.get(firstRows[row]!)!),
    )
  }

  #grow(): void {
    const rows = this.#count * 2
    if (rows > rowsMax) throw new Error(`A chunk has at most ${rowsMax} rows`)
    this.#seconds = copied(new Float64Array(rows), this.#seconds)
    this.#amounts = copied(new BigInt64Array(rows), this.#amounts)
    this.#firstRows = copied(new Uint32Array(rows), this.#firstRows)
    this.#nextRows = copied(new Uint32Array(rows), this.#nextRows)
  }
}

/** Sums per series and second that no longer change. The usage of a window is the difference of two sums. */
export class SortedRows {
  readonly #series: DigestTable
  readonly #seconds: Float64Array
  /** Sum of the row and all earlier rows of its series, in 10^-6 units. */
  readonly #sums: BigInt64Array
  /** Index: the first row of a series. Value: the row after its last row. */
  readonly #ends: Uint32Array

  /** `starts` contains the first row of each row's series. This object takes over the arrays. */
  constructor(
    series: DigestTable,
    seconds: Float64Array,
    amounts: BigInt64Array,
    starts: Uint32Array,
  ) {
    this.#series = series
    this.#seconds = seconds
    this.#sums = amounts
    this.#ends = new Uint32Array(starts.length)
    for (const [row, start] of starts.entries()) {
      if (row > start) this.#sums[row]! += this.#sums[row - 1]!
      this.#ends[start] = row + 1
    }
  }

  get bytes(): number {
    const columns = this.#seconds.byteLength + this.#sums.byteLength + this.#ends.byteLength
    return columns + this.#series.bytes
  }

  addTo(sums: Map<string, bigint>, series: Uint32Array, windows: readonly CountingWindow[]): void {
    const start = this.#series.find(series)
    if (start < 0) return
    const end = this.#ends[start]!
    for (const { id, fromSecond, toSecond } of windows) {
      const from = this.#rowAt(fromSecond, start, end)
      const to = this.#rowAt(toSecond, from, end)
      if (from === to) continue
      const before = from === start ? 0n : this.#sums[from - 1]!
      addAmount(sums, id, this.#sums[to - 1]! - before)
    }
  }

  /** Returns the first row from `start` on with this second or a later one, or `end`. */
  #rowAt(second: number, start: number, end: number): number {
    let low = start
    let high = end
    while (low < high) {
      const middle = (low + high) >>> 1
      if (this.#seconds[middle]! < second) low = middle + 1
      else high = middle
    }
    return low
  }
}

function cellOf(firstRow: number, second: number): number {
  return second * rowsMax + firstRow
}

function addAmount(sums: Map<string, bigint>, id: string, amount: bigint): void {
  sums.set(id, (sums.get(id) ?? 0n) + amount)
}

function copied<Column extends Float64Array | BigInt64Array | Uint32Array>(
  larger: Column,
  { buffer }: Column,
): Column {
  new Uint8Array(larger.buffer).set(new Uint8Array(buffer))
  return larger
}
