import type { Column } from '../usage-store.ts'
import { GrowingBuffer } from './growing-buffer.ts'

/**
 * Rows that are visited at a time. Writing a whole column at a time would read all rows from memory again for each column; so few of
 * them stay in the processor's cache.
 */
const rowsPerStep = 128

/**
 * Writes rows in ClickHouse's format `Native`: one block, column by column, each after its name and type. ClickHouse converts
 * values if the table has another type. Its memory can be used for the next block.
 */
export class NativeBlock {
  readonly #header = new GrowingBuffer()
  readonly #columns: ColumnBuffers[] = []

  /** Returns the parts of the block in their order. They are valid until the next call. */
  write<Row>(columns: readonly Column<Row>[], rows: readonly Row[]): readonly Uint8Array[] {
    while (this.#columns.length < columns.length) this.#columns.push(new ColumnBuffers())
    const written = columns.map((column, index) => ({ column, buffers: this.#columns[index]! }))
    this.#header.clear()
    this.#header.writeLength(columns.length)
    this.#header.writeLength(rows.length)
    for (const { column, buffers } of written) buffers.begin(column)
    for (let from = 0; from < rows.length; from += rowsPerStep) {
      const step = rows.slice(from, from + rowsPerStep)
      for (const { column, buffers } of written) buffers.add(column, step)
    }
    return [this.#header.written(), ...written.flatMap(({ buffers }) => buffers.written())]
  }
}

/** The bytes of a column. Maps have the number of entries up to the end of each map, then all names, then all values. */
class ColumnBuffers {
  readonly #values = new GrowingBuffer()
  #names: GrowingBuffer | undefined
  #ofNames: GrowingBuffer | undefined
  #entries = 0

  begin<Row>({ name, type }: Column<Row>): void {
    this.#values.clear()
    this.#values.writeText(name)
    this.#values.writeText(type)
    this.#entries = 0
    this.#names?.clear()
    this.#ofNames?.clear()
  }

  written(): Uint8Array[] {
    return [this.#values, this.#names, this.#ofNames].flatMap((each) => each?.written() ?? [])
  }

  add<Row>(column: Column<Row>, rows: readonly Row[]): void {
    switch (column.type) {
      case 'String':
        this.#addTexts(rows, column.value)
        break
      case 'UInt32':
        for (const row of rows) this.#values.writeUInt32(column.value(row))
        break
      case 'UInt64':
      case 'Decimal(18, 6)':
      case "DateTime64(3, 'UTC')":
        for (const row of rows) this.#values.writeInt64(column.value(row))
        break
      case 'Map(String, String)':
        this.#addMaps(rows, column.value)
    }
  }

  /** Adjacent rows often have the same text, in particular the rows of one event. */
  #addTexts<Row>(rows: readonly Row[], value: (row: Row) => string): void {
    let last: string | undefined
    for (const row of rows) {
      const text = value(row)
      if (text === last) this.#values.repeatText()
      else this.#values.writeText(text)
      last = text
    }
  }

  #addMaps<Row>(rows: readonly Row[], value: (row: Row) => Readonly<Record<string, string>>): void {
    this.#names ??= new GrowingBuffer()
    this.#ofNames ??= new GrowingBuffer()
    for (const row of rows) {
      const map = value(row)
      for (const name in map) {
        this.#entries += 1
        this.#names.writeText(name)
        this.#ofNames.writeText(map[name]!)
      }
      this.#values.writeInt64(this.#entries)
    }
  }
}
