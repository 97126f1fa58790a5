import { drawLines, heightOf, heightOfAll, type Doc, type TextLine } from './text-layout.ts'

/*
 * Draws tables that break across pages. The head is repeated on each page, and a row that does not fit on a page continues on the
 * next one. Tags let screen readers find the cells. Decoration is marked as an artifact, so that screen readers skip it.
 */

type Column = {
  /** Width in points. */
  readonly width: number
  readonly align?: 'left' | 'right'
}

/** A row, with the lines of each cell. */
type Row = readonly (readonly TextLine[])[]

type Table = {
  readonly x: number
  readonly columns: readonly Column[]
  /** Undefined means that the table has no head and that the first cell of each row is its heading. */
  readonly head?: Row
  readonly rows: readonly Row[]
  readonly rules: { readonly head: string; readonly row: string } | undefined
  /** Space above and below each row, in points. */
  readonly padding: number
}

export type Structure = ReturnType<Doc['struct']>

/** Adds a tag of a type that screen readers announce. `draw` draws its content. */
export function addTag(
  doc: Doc,
  parent: Structure,
  type: string,
  draw: () => unknown,
  // The types of pdfkit lack some of these options.
  options: Readonly<Record<string, unknown>> = {},
): void {
  parent.add(doc.struct(type, options, [draw]))
}

export function drawTable(doc: Doc, parent: Structure, table: Table): void {
  const structure = doc.struct('Table')
  parent.add(structure)
  const headHeight = table.head === undefined ? 0 : rowHeight(table.head, table)
  const [first] = table.rows
  ensureRoom(doc, headHeight + (first === undefined ? 0 : Math.min(rowHeight(first, table), 120)))
  drawHead(doc, table, structure)
  for (const row of table.rows) drawRow(doc, table, structure, row)
  structure.end()
}

/** Starts a new page if less than `height` points are left on this one. */
export function ensureRoom(doc: Doc, height: number): boolean {
  if (doc.y + height <= bottomOf(doc)) return false
  doc.addPage()
  doc.y = doc.page.margins.top
  return true
}

/** Draws lines and colors as decoration, which screen readers skip. */
export function drawArtifact(doc: Doc, draw: () => void): void {
  const { y } = doc
  doc.markContent('Artifact', { type: 'Layout' })
  draw()
  doc.endMarkedContent()
  doc.y = y
}

function bottomOf(doc: Doc): number {
  return doc.page.height - doc.page.margins.bottom
}

function rowHeight(row: Row, { padding }: Table): number {
  return Math.max(0, ...row.map(heightOfAll)) + 2 * padding
}

/** Draws the head. It is tagged once; on later pages it is decoration, so that screen readers do not repeat it. */
function drawHead(doc: Doc, table: Table, structure: Structure | undefined): void {
  const { head, rules } = table
  if (head === undefined) return
  if (structure === undefined) drawArtifact(doc, () => drawCells(doc, table, head))
  else drawTagged(doc, table, structure, head, 'head')
  doc.y += rowHeight(head, table)
  if (rules !== undefined) drawRule(doc, table, rules.head)
}

function drawRow(doc: Doc, table: Table, structure: Structure, row: Row): void {
  const isTall = rowHeight(row, table) > usableHeight(doc, table)
  let left: Row = row
  if (!isTall && ensureRoom(doc, rowHeight(row, table))) drawHead(doc, table, undefined)
  while (left.some((cell) => cell.length > 0)) {
    const room = bottomOf(doc) - doc.y - 2 * table.padding
    const part = left.map((cell) => linesWithin(cell, room))
    if (part.every((cell) => cell.length === 0)) {
      doc.addPage()
      doc.y = doc.page.margins.top
      drawHead(doc, table, undefined)
      continue
    }
    drawTagged(doc, table, structure, part, 'row')
    doc.y += rowHeight(part, table)
    left = left.map((cell, at) => cell.slice(part[at]!.length))
  }
  if (table.rules !== undefined) drawRule(doc, table, table.rules.row)
}

/** Returns the height that rows have on a page below a repeated head, in points. */
function usableHeight(doc: Doc, table: Table): number {
  const headHeight = table.head === undefined ? 0 : rowHeight(table.head, table)
  return bottomOf(doc) - doc.page.margins.top - headHeight
}

function linesWithin(cell: readonly TextLine[], room: number): readonly TextLine[] {
  let height = 0
  const end = cell.findIndex((line) => (height += heightOf(line)) > room)
  return end === -1 ? cell : cell.slice(0, end)
}

function drawTagged(
  doc: Doc,
  table: Table,
  structure: Structure,
  row: Row,
  kind: 'head' | 'row',
): void {
  const { y } = doc
  const rowStructure = doc.struct('TR')
  structure.add(rowStructure)
  for (const [at, cell] of row.entries()) {
    const scope =
      kind === 'head' ? 'Column' : at === 0 && table.head === undefined ? 'Row' : undefined
    const draw = (): void => drawCell(doc, table, at, cell, y)
    if (scope === undefined) addTag(doc, rowStructure, 'TD', draw)
    else addTag(doc, rowStructure, 'TH', draw, { scope })
  }
  rowStructure.end()
  doc.y = y
}

function drawCells(doc: Doc, table: Table, row: Row): void {
  const { y } = doc
  for (const [at, cell] of row.entries()) drawCell(doc, table, at, cell, y)
}

function drawCell(doc: Doc, table: Table, at: number, cell: readonly TextLine[], y: number): void {
  const { columns, padding } = table
  const x = columns.slice(0, at).reduce((sum, { width }) => sum + width, table.x)
  const { width, align = 'left' } = columns[at]!
  drawLines(doc, cell, { x, y: y + padding, width, align })
}

function drawRule(doc: Doc, { x, columns }: Table, color: string): void {
  const right = columns.reduce((sum, { width }) => sum + width, x)
  const { y } = doc
  drawArtifact(doc, () => {
    doc.moveTo(x, y).lineTo(right, y).lineWidth(0.6).strokeColor(color).stroke()
  })
}
