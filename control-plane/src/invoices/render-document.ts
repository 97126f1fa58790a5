import { buffer } from 'node:stream/consumers'
import PdfDocument from 'pdfkit'
import type { DocumentTexts, NamedText } from './document-texts.ts'
import { addTag, drawArtifact, drawTable, ensureRoom, type Structure } from './document-table.ts'
import { documentText } from './document-words.ts'
import {
  drawLines,
  heightOf,
  heightOfAll,
  layoutText,
  type Doc,
  type TextLine,
  type TextStyle,
} from './text-layout.ts'

/* Renders invoices and credit notes on pages of A4, with tags for screen readers. */

/** Appearance that the provider chose. */
export type Brand = {
  /** `#rrggbb`. Null means the default color. */
  readonly accentColor: string | null
  /** A JPEG or PNG that `drawableLogo` has checked. Null means that the seller's name is printed instead. */
  readonly logo: Buffer | null
}

export type DocumentFile = {
  /** Name of the document for people, printed in the footer of each page. */
  readonly name: string
  /** Date of the file. It makes the bytes of the same document always the same. */
  readonly changedAt: Date
  readonly texts: DocumentTexts
  readonly brand: Brand
}

const margin = 50
const defaultAccent = '#2f4fd0'
const rule = '#d5d9e2'

const ink: TextStyle = { size: 9, color: '#1a1f2b' }
const strong: TextStyle = { ...ink, weight: 'bold' }
const quiet: TextStyle = { size: 9, color: '#59626f' }
const small: TextStyle = { size: 7.5, color: '#59626f' }

export async function renderDocument(file: DocumentFile): Promise<Buffer> {
  const { name, changedAt, texts } = file
  const doc = new PdfDocument({
    size: 'A4',
    margins: { top: margin, left: margin, right: margin, bottom: margin + 20 },
    bufferPages: true,
    lang: 'en',
    displayTitle: true,
    pdfVersion: '1.7',
    tagged: true,
    info: {
      Title: `${texts.title} ${name}`,
      Author: texts.seller[0] ?? '',
      CreationDate: changedAt,
      ModDate: changedAt,
    },
  })
  const bytes = buffer(doc)
  const root = doc.struct('Document')
  doc.addStructure(root)
  drawHead(doc, root, file)
  drawParties(doc, root, texts)
  drawLineTable(doc, root, file)
  drawSums(doc, root, texts.sums)
  drawTaxes(doc, root, texts)
  drawPayments(doc, root, texts)
  drawNotes(doc, root, texts.notes)
  root.end()
  drawFoot(doc, name)
  doc.end()
  return bytes
}

const logoSize = { width: 180, height: 40 }

function drawHead(doc: Doc, root: Structure, { texts, brand }: DocumentFile): void {
  const accent = brand.accentColor ?? defaultAccent
  drawArtifact(doc, () => doc.rect(0, 0, doc.page.width, 6).fill(accent))
  const width = widthOf(doc)
  const left = width * 0.55
  const [seller = ''] = texts.seller
  const title = layoutText(doc, texts.title, { ...strong, size: 20 }, width - left)
  const at = { y: margin, width: width - left, align: 'right' } as const
  addTag(doc, root, 'H1', () => drawLines(doc, title, { ...at, x: margin + left }))
  const logoBottom = drawLogo(doc, root, brand.logo, seller)
  const name = layoutText(doc, seller, { ...strong, size: 13 }, left - 12)
  if (logoBottom === undefined && seller !== '') {
    addTag(doc, root, 'P', () => drawLines(doc, name, { x: margin, y: margin, width: left }))
  }
  const nameBottom = margin + (seller === '' ? 0 : heightOfAll(name))
  doc.y = Math.max(margin + heightOfAll(title), logoBottom ?? nameBottom) + 22
}

/** Draws the logo. Returns the position below it, or undefined if there is no picture that can be drawn. */
function drawLogo(
  doc: Doc,
  root: Structure,
  logo: Buffer | null,
  seller: string,
): number | undefined {
  if (logo === null) return undefined
  const image = openImage(doc, logo)
  if (image === undefined) return undefined
  const { width, height } = logoSize
  const scale = Math.min(width / image.width, height / image.height, 1)
  const bottom = margin + image.height * scale
  const bbox = [margin, margin, margin + image.width * scale, bottom]
  const draw = (): void => void doc.image(logo, margin, margin, { scale })
  addTag(doc, root, 'Figure', draw, { alt: seller, bbox })
  return bottom
}

/** Method of pdfkit that its types lack. */
type ImageOpener = { openImage(bytes: Buffer): { width: number; height: number } }

/** Returns undefined if the picture is damaged. */
function openImage(doc: Doc, logo: Buffer): ReturnType<ImageOpener['openImage']> | undefined {
  try {
    const image = (doc as unknown as ImageOpener).openImage(logo)
    return image.width > 0 && image.height > 0 ? image : undefined
  } catch {
    return undefined
  }
}

function drawParties(doc: Doc, root: Structure, { seller, buyer, facts }: DocumentTexts): void {
  const width = widthOf(doc)
  const top = doc.y
  const column = width / 3 - 10
  const bottoms = [
    drawParty(doc, root, documentText('from'), seller, { x: margin, y: top, width: column }),
    drawParty(doc, root, documentText('billTo'), buyer, {
      x: margin + width / 3,
      y: top,
      width: column,
    }),
    drawFacts(doc, root, facts, { x: margin + (2 * width) / 3, y: top, width: width / 3 }),
  ]
  doc.y = Math.max(...bottoms) + 24
}

type Place = { readonly x: number; readonly y: number; readonly width: number }

/** Draws the block of a party, whose first line is its name. Returns the position below the block. */
function drawParty(
  doc: Doc,
  root: Structure,
  heading: string,
  [name, ...rest]: readonly string[],
  place: Place,
): number {
  if (name === undefined) return place.y
  const lines = [
    ...layoutText(doc, name, strong, place.width),
    ...rest.flatMap((line) => layoutText(doc, line, ink, place.width)),
  ]
  const head = layoutText(doc, heading, small, place.width)
  const top = place.y + heightOfAll(head) + 2
  addTag(doc, root, 'H2', () => drawLines(doc, head, place))
  addTag(doc, root, 'P', () => drawLines(doc, lines, { ...place, y: top }))
  return top + heightOfAll(lines)
}

function drawFacts(doc: Doc, root: Structure, facts: readonly NamedText[], place: Place): number {
  const nameWidth = place.width * 0.38
  let { y } = place
  for (const [name, value] of facts) {
    const names = layoutText(doc, name, quiet, nameWidth - 6)
    const values = layoutText(doc, value, ink, place.width - nameWidth)
    const draw = (): void => {
      drawLines(doc, names, { ...place, y, width: nameWidth })
      const at = { x: place.x + nameWidth, y, width: place.width - nameWidth }
      drawLines(doc, values, at)
    }
    addTag(doc, root, 'P', draw)
    y += Math.max(heightOfAll(names), heightOfAll(values)) + 1.5
  }
  return y
}

function drawLineTable(doc: Doc, root: Structure, { texts, brand }: DocumentFile): void {
  const widths = shareOf(doc, [0.48, 0.17, 0.17, 0.18])
  const [descriptionWidth, ...numberWidths] = widths as [number, ...number[]]
  const heads = [
    documentText('description'),
    documentText('quantity'),
    documentText('unitPrice'),
    documentText('amount'),
  ]
  const numbers = (values: readonly string[], at: number): TextLine[] =>
    values.flatMap((value) => layoutText(doc, value, ink, numberWidths[at]! - 8))
  drawTable(doc, root, {
    x: margin,
    columns: widths.map((width, at) => ({ width, align: at === 0 ? 'left' : 'right' })),
    head: heads.map((head, at) => layoutText(doc, head, small, widths[at]!)),
    rows: texts.lines.map(({ description, details, quantities, unitPrices, amount }) => [
      [
        ...layoutText(doc, description, ink, descriptionWidth - 12),
        ...details.flatMap((detail) => layoutText(doc, detail, small, descriptionWidth - 12)),
      ],
      numbers(quantities, 0),
      numbers(unitPrices, 1),
      numbers([amount], 2),
    ]),
    rules: { head: brand.accentColor ?? defaultAccent, row: rule },
    padding: 5,
  })
}

/** Draws the sums at the right, below the amounts, and keeps them together on one page. */
function drawSums(doc: Doc, root: Structure, sums: readonly NamedText[]): void {
  const width = widthOf(doc) * 0.55
  const columns = [{ width: width * 0.62 }, { width: width * 0.38, align: 'right' }] as const
  const rows = sums.map(([name, amount], at) => {
    const isLast = at === sums.length - 1
    const [nameStyle, amountStyle] = isLast
      ? [
          { ...strong, size: 11 },
          { ...strong, size: 11 },
        ]
      : [quiet, ink]
    return [
      layoutText(doc, name, nameStyle, columns[0].width - 8),
      layoutText(doc, amount, amountStyle, columns[1].width),
    ]
  })
  doc.y += 10
  ensureRoom(doc, rows.length * 20)
  const x = margin + widthOf(doc) - width
  drawTable(doc, root, { x, columns, rows, rules: undefined, padding: 2.5 })
}

function drawTaxes(doc: Doc, root: Structure, { taxes }: DocumentTexts): void {
  if (taxes.length === 0) return
  const heads = [
    documentText('tax'),
    documentText('taxRate'),
    documentText('taxBase'),
    documentText('taxAmount'),
  ]
  const rows = taxes.map(({ tax, rate, base, amount }) => [tax, rate, base, amount])
  const shares = [0.48, 0.12, 0.2, 0.2]
  drawPlainTable(doc, root, { title: documentText('tax'), heads, rows, shares, firstNumber: 1 })
}

function drawPayments(doc: Doc, root: Structure, { payments }: DocumentTexts): void {
  if (payments.length === 0) return
  const heads = [documentText('paymentMethod'), documentText('paymentDate'), documentText('amount')]
  const rows = payments.map(({ method, date, amount }) => [method, date, amount])
  const shares = [0.56, 0.24, 0.2]
  drawPlainTable(doc, root, {
    title: documentText('payments'),
    heads,
    rows,
    shares,
    firstNumber: 2,
  })
}

type PlainTable = {
  readonly title: string
  readonly heads: readonly string[]
  readonly rows: readonly (readonly string[])[]
  readonly shares: readonly number[]
  /** Index of the first column that is aligned to the right. */
  readonly firstNumber: number
}

function drawPlainTable(doc: Doc, root: Structure, table: PlainTable): void {
  const { title, heads, rows, shares, firstNumber } = table
  const widths = shareOf(doc, shares)
  const setRow = (cells: readonly string[], style: TextStyle): TextLine[][] =>
    cells.map((cell, at) => layoutText(doc, cell, style, widths[at]! - 8))
  const heading = layoutText(doc, title, strong, widthOf(doc))
  doc.y += 16
  ensureRoom(doc, 80)
  const place = { x: margin, y: doc.y, width: widthOf(doc) }
  addTag(doc, root, 'H2', () => drawLines(doc, heading, place))
  doc.y = place.y + heightOfAll(heading)
  drawTable(doc, root, {
    x: margin,
    columns: widths.map((width, at) => ({ width, align: at < firstNumber ? 'left' : 'right' })),
    head: setRow(heads, small),
    rows: rows.map((cells) => setRow(cells, ink)),
    rules: { head: rule, row: rule },
    padding: 4,
  })
}

function drawNotes(doc: Doc, root: Structure, notes: readonly string[]): void {
  doc.y += 18
  for (const note of notes) {
    for (const line of layoutText(doc, note, small, widthOf(doc))) {
      ensureRoom(doc, heightOf(line))
      const place = { x: margin, y: doc.y, width: widthOf(doc) }
      addTag(doc, root, 'P', () => drawLines(doc, [line], place))
      doc.y = place.y + heightOf(line)
    }
    doc.y += 3
  }
}

/** Draws the footer into the bottom margin of each page. */
function drawFoot(doc: Doc, name: string): void {
  const { start, count } = doc.bufferedPageRange()
  for (let at = 0; at < count; at += 1) {
    doc.switchToPage(start + at)
    doc.page.margins.bottom = 0
    const place = { x: margin, y: doc.page.height - margin, width: widthOf(doc) }
    const page = documentText('page', { page: at + 1, pages: count })
    drawArtifact(doc, () => {
      drawLines(doc, layoutText(doc, name, small, place.width), place)
      drawLines(doc, layoutText(doc, page, small, place.width), { ...place, align: 'right' })
    })
  }
}

function widthOf(doc: Doc): number {
  return doc.page.width - 2 * margin
}

function shareOf(doc: Doc, shares: readonly number[]): number[] {
  return shares.map((share) => share * widthOf(doc))
}
