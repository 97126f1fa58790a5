/** Formats rows as an aligned table: text to the left, numbers to the right, with or without a unit. */
export function formatTable(
  header: readonly string[],
  rows: readonly (readonly string[])[],
): string {
  const widths = header.map((title, column) =>
    Math.max(title.length, ...rows.map((row) => row[column]?.length ?? 0)),
  )
  const line = (cells: readonly string[], align: (cell: string, width: number) => string): string =>
    cells
      .map((cell, column) => align(cell, widths[column] ?? 0))
      .join('  ')
      .trimEnd()
  return [
    line(header, (cell, width) => cell.padEnd(width)),
    line(
      widths.map((width) => '-'.repeat(width)),
      (cell) => cell,
    ),
    ...rows.map((row) => line(row, alignCell)),
  ].join('\n')
}

function alignCell(cell: string, width: number): string {
  return /^[<>=]*\s*[\d-][\d,.]*(?![\d,.:])/.test(cell) ? cell.padStart(width) : cell.padEnd(width)
}

export function formatCount(count: number): string {
  return count.toLocaleString('en-US')
}
