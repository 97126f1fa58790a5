import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { buffer } from 'node:stream/consumers'
import PdfDocument from 'pdfkit'
import type { Environment } from '@tollgate/schemas/environment'
import { invoiceTexts, type InvoiceTexts, type PrintedInvoice } from './invoice-texts.ts'

/*
 * An invoice on pages of A4. The fonts are our own to give: those that every reader of PDF has know no more than the
 * letters of western Europe, and names come from everywhere. Chinese, Japanese and Korean letters are not in them.
 */

const require = createRequire(import.meta.url)
const regular = readFileSync(require.resolve('dejavu-fonts-ttf/ttf/DejaVuSans.ttf'))
const bold = readFileSync(require.resolve('dejavu-fonts-ttf/ttf/DejaVuSans-Bold.ttf'))

const margin = 56
const ink = '#1a1f2b'
const faint = '#667085'
const rule = '#d5d9e2'

const text = 9
const small = 7.5

/** The same invoice is the same bytes. */
export function renderInvoice(printed: PrintedInvoice, environment: Environment): Promise<Buffer> {
  const texts = invoiceTexts(printed, environment)
  const { reference, updatedAt } = printed.invoice
  const doc = new PdfDocument({
    size: 'A4',
    margin,
    bufferPages: true,
    lang: 'en',
    displayTitle: true,
    info: { Title: `${texts.title} ${reference}`, CreationDate: updatedAt, ModDate: updatedAt },
  })
  doc.registerFont('regular', regular).registerFont('bold', bold)
  doc.font('regular').fontSize(text).fillColor(ink)
  const bytes = buffer(doc)
  drawHead(doc, texts)
  drawLines(doc, texts)
  drawSums(doc, texts)
  drawNotes(doc, texts)
  drawFoot(doc, reference)
  doc.end()
  return bytes
}

type Doc = InstanceType<typeof PdfDocument>

function drawHead(doc: Doc, { title, seller, buyer, facts }: InvoiceTexts): void {
  const width = widthOf(doc)
  const half = width / 2
  doc.font('bold').fontSize(20).text(title, margin, doc.y, { width })
  doc.moveDown(0.6).font('regular').fontSize(text)
  const top = doc.y
  for (const [name, value] of facts) {
    doc.fillColor(faint).text(`${name}  `, { continued: true, width: half })
    doc.fillColor(ink).text(value)
  }
  const leftEnd = doc.y
  drawAddress(doc, seller, margin + half, top, half)
  doc.y = Math.max(leftEnd, doc.y) + 18
  const buyerTop = doc.y
  doc.font('regular').fontSize(small).fillColor(faint).text('Bill to', margin, buyerTop)
  drawAddress(doc, buyer, margin, doc.y + 2, half)
  doc.y += 18
}

/** The first line is a name. */
function drawAddress(
  doc: Doc,
  [name, ...rest]: readonly string[],
  x: number,
  y: number,
  width: number,
): void {
  doc.fontSize(text).fillColor(ink)
  doc.font('bold').text(name ?? '', x, y, { width })
  doc.font('regular')
  for (const line of rest) doc.text(line, { width })
  doc.x = margin
}

function drawLines(doc: Doc, { lines }: InvoiceTexts): void {
  const [description, period, amount] = [0.5, 0.3, 0.2].map((part) => widthOf(doc) * part)
  const table = doc.table({
    position: { x: margin, y: doc.y },
    maxWidth: widthOf(doc),
    columnStyles: [description!, period!, { width: amount!, align: { x: 'right' } }],
    defaultStyle: { border: [0, 0, 0.5, 0], borderColor: rule, padding: [6, 4] },
  })
  const heading = { textColor: faint, font: { size: small }, type: 'TH' } as const
  table.row(['Description', 'Period', 'Amount'].map((name) => ({ ...heading, text: name })))
  for (const line of lines) {
    const what = [line.description, ...line.details].join('\n')
    table.row([{ text: what }, { text: line.period, textColor: faint }, { text: line.amount }])
  }
  table.end()
  doc.x = margin
}

const sumsWidth = 300

function drawSums(doc: Doc, { sums }: InvoiceTexts): void {
  doc.moveDown(1)
  const left = margin + widthOf(doc) - sumsWidth
  for (const [at, [name, amount]] of sums.entries()) {
    const isLast = at === sums.length - 1
    keepRoom(doc, 2 * text)
    const y = doc.y
    doc.font(isLast ? 'bold' : 'regular').fontSize(isLast ? text + 2 : text)
    doc.fillColor(isLast ? ink : faint).text(name, left, y, { width: (sumsWidth * 2) / 3 })
    doc.fillColor(ink).text(amount, left + (sumsWidth * 2) / 3, y, {
      width: sumsWidth / 3 - 4,
      align: 'right',
    })
    doc.y += 4
  }
  doc.x = margin
}

function drawNotes(doc: Doc, { notes }: InvoiceTexts): void {
  if (notes.length === 0) return
  doc.moveDown(2).font('regular').fontSize(small).fillColor(faint)
  for (const note of notes) doc.text(note, margin, doc.y, { width: widthOf(doc) })
}

/** In the margin at the bottom, where text would otherwise begin another page. */
function drawFoot(doc: Doc, reference: string): void {
  const { start, count } = doc.bufferedPageRange()
  for (let page = start; page < start + count; page += 1) {
    doc.switchToPage(page)
    doc.page.margins.bottom = 0
    const y = doc.page.height - margin / 1.5
    const of = { width: widthOf(doc), lineBreak: false } as const
    doc.font('regular').fontSize(small).fillColor(faint)
    doc.text(reference, margin, y, of)
    doc.text(`Page ${page - start + 1} of ${count}`, margin, y, { ...of, align: 'right' })
  }
}

function keepRoom(doc: Doc, height: number): void {
  if (doc.y + height > doc.page.height - margin) doc.addPage()
}

function widthOf(doc: Doc): number {
  return doc.page.width - 2 * margin
}
