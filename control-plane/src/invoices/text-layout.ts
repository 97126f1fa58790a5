import LineBreaker from 'linebreak'
import type PdfDocument from 'pdfkit'
import { runsOf, type Run, type Weight } from './fonts.ts'

/* Breaks texts into lines and draws them. pdfkit does this only for one font at a time, but a name may need two fonts. */

export type Doc = InstanceType<typeof PdfDocument>

export type TextStyle = {
  readonly size: number
  readonly color: string
  readonly weight?: Weight
}

export type TextLine = {
  readonly runs: readonly Run[]
  readonly width: number
  readonly style: TextStyle
}

/** Heights of a line and of its baseline, as multiples of the font size. */
const lineHeight = 1.35
const baseline = 1.02

export function heightOf({ style }: TextLine): number {
  return style.size * lineHeight
}

export function heightOfAll(lines: readonly TextLine[]): number {
  return lines.reduce((sum, line) => sum + heightOf(line), 0)
}

/** Breaks the text into lines that are at most `width` points wide. */
export function layoutText(doc: Doc, text: string, style: TextStyle, width: number): TextLine[] {
  const lines: string[] = []
  let line = ''
  for (const part of partsOf(printable(text))) {
    if (measure(doc, line + part.trimEnd(), style) <= width) {
      line += part
      continue
    }
    if (line !== '') lines.push(line)
    line = ''
    // Break a word that is wider than the line at the character that no longer fits.
    for (const char of graphemesOf(part)) {
      if (line !== '' && measure(doc, line + char, style) > width) {
        lines.push(line)
        line = ''
      }
      line += char
    }
  }
  return [...lines, line].map((each) => layoutLine(doc, each.trimEnd(), style))
}

/** Draws the lines below each other. Returns the position of the next line. */
export function drawLines(
  doc: Doc,
  lines: readonly TextLine[],
  {
    x,
    y,
    width,
    align = 'left',
  }: { x: number; y: number; width: number; align?: 'left' | 'right' },
): number {
  let top = y
  for (const line of lines) {
    let left = align === 'left' ? x : x + width - line.width
    const { size, color } = line.style
    for (const { font, text, actual } of line.runs) {
      useFont(doc, font, size).fillColor(color)
      if (actual !== undefined) doc.markContent('Span', { actual })
      doc.text(text, left, top + size * baseline, { lineBreak: false, baseline: 'alphabetic' })
      if (actual !== undefined) doc.endMarkedContent()
      left += doc.widthOfString(text)
    }
    top += heightOf(line)
  }
  return top
}

function layoutLine(doc: Doc, text: string, style: TextStyle): TextLine {
  const runs = inVisualOrder(text).flatMap((part) => runsOf(part, style.weight ?? 'regular'))
  return { runs, width: widthOf(doc, runs, style.size), style }
}

function measure(doc: Doc, text: string, { size, weight = 'regular' }: TextStyle): number {
  return widthOf(doc, runsOf(text, weight), size)
}

function widthOf(doc: Doc, runs: readonly Run[], size: number): number {
  return runs.reduce((sum, { font, text }) => sum + useFont(doc, font, size).widthOfString(text), 0)
}

/** pdfkit accepts fonts that are already parsed, but its types do not declare this yet. */
function useFont(doc: Doc, font: Run['font'], size: number): Doc {
  return doc.font(font as unknown as Buffer, font.postscriptName).fontSize(size)
}

/** Removes control characters: they have no glyph, and some PDF readers end the text there. */
function printable(text: string): string {
  return text.replaceAll(/\s/gu, ' ').replaceAll(/[\p{Cc}\p{Cs}]/gu, '')
}

/** Splits the text into parts between which a line may be broken. */
function partsOf(text: string): string[] {
  const breaker = new LineBreaker(text)
  const parts: string[] = []
  let from = 0
  for (let next = breaker.nextBreak(); next !== null; next = breaker.nextBreak()) {
    parts.push(text.slice(from, next.position))
    from = next.position
  }
  return parts
}

const graphemes = new Intl.Segmenter('en', { granularity: 'grapheme' })

function graphemesOf(text: string): string[] {
  return [...graphemes.segment(text)].map(({ segment }) => segment)
}

const rightToLeft = '[\\p{Script=Arabic}\\p{Script=Hebrew}][^\\sA-Za-z0-9]*'
const rightToLeftWords = new RegExp(`(${rightToLeft}(?:\\s+${rightToLeft})+)`, 'gu')

/**
 * Returns the parts of the text in visual order. The font orders the letters of each word from right to left; this function orders
 * the words.
 */
function inVisualOrder(text: string): string[] {
  return text
    .split(rightToLeftWords)
    .flatMap((part, at) => (at % 2 === 0 ? [part] : part.split(/(\s+)/).toReversed()))
}
