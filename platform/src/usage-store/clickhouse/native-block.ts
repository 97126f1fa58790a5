import type { Column } from '../usage-store.ts'
import type { GrowingBuffer } from './growing-buffer.ts'

/**
 * Writes rows in ClickHouse's format `Native`: one block, column by column, each after its name and type. ClickHouse converts
 * values if the table has another type.
 */
export function writeNativeBlock<Row>(
  buffer: GrowingBuffer,
  columns: readonly Column<Row>[],
  rows: readonly Row[],
): void {
  buffer.writeLength(columns.length)
  buffer.writeLength(rows.length)
  for (const column of columns) {
    buffer.writeText(column.name)
    buffer.writeText(column.type)
    writeValues(buffer, column, rows)
  }
}

function writeValues<Row>(buffer: GrowingBuffer, column: Column<Row>, rows: readonly Row[]): void {
  switch (column.type) {
    case 'String':
      for (const row of rows) buffer.writeText(column.value(row))
      break
    case 'UInt32':
      for (const row of rows) buffer.writeUInt32(column.value(row))
      break
    case 'UInt64':
    case 'Decimal(18, 6)':
    case "DateTime64(3, 'UTC')":
      for (const row of rows) buffer.writeInt64(column.value(row))
      break
    case 'Map(String, String)':
      writeMaps(buffer, rows.map(column.value))
  }
}

/** Writes maps: for each the number of entries up to its end, then the names of all entries, then their values. */
function writeMaps(buffer: GrowingBuffer, maps: readonly Readonly<Record<string, string>>[]): void {
  let end = 0
  for (const map of maps) {
    for (const _ in map) end += 1
    buffer.writeInt64(end)
  }
  for (const map of maps) for (const name in map) buffer.writeText(name)
  for (const map of maps) for (const name in map) buffer.writeText(map[name]!)
}
