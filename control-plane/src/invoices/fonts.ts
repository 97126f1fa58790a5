import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { create, type Font } from 'fontkit'

/*
 * The fonts of invoices come with the service: the ones that every PDF reader has know only the letters of western Europe,
 * and names come from everywhere. DejaVu has the alphabets of Europe, Arabic, Hebrew and more, BIZ UDPGothic has Japanese
 * and with it many Chinese characters. A character of neither is printed as a box that stands for it: readers
 * copy, search and speak the character itself.
 */

export type Weight = 'regular' | 'bold'

const require = createRequire(import.meta.url)

const files: Readonly<Record<Weight, readonly string[]>> = {
  regular: [
    require.resolve('dejavu-fonts-ttf/ttf/DejaVuSans.ttf'),
    require.resolve('@expo-google-fonts/biz-udpgothic/400Regular/BIZUDPGothic_400Regular.ttf'),
  ],
  bold: [
    require.resolve('dejavu-fonts-ttf/ttf/DejaVuSans-Bold.ttf'),
    require.resolve('@expo-google-fonts/biz-udpgothic/700Bold/BIZUDPGothic_700Bold.ttf'),
  ],
}

const opened = new Map<string, Font>()

/** Parsed once, and only after a text needs the font. */
function fontOf(file: string): Font {
  const found = opened.get(file)
  if (found !== undefined) return found
  const font = create(readFileSync(file))
  if (!('hasGlyphForCodePoint' in font)) throw new Error(`${file} holds several fonts`)
  opened.set(file, font)
  return font
}

/** The part of a text that one font prints. */
export type Run = {
  readonly font: Font
  readonly text: string
  /** What the boxes of the text stand for; undefined where the font has all of its characters. */
  readonly actual: string | undefined
}

/** DejaVu has it; the box that a font has for every missing character is placed wrongly by pdfkit. */
const box = '□'

/** Splits the text by the font that has its characters. */
export function runsOf(text: string, weight: Weight): Run[] {
  const runs: { font: Font; text: string; actual: string | undefined }[] = []
  for (const char of text) {
    const font = fontFor(char.codePointAt(0)!, weight)
    const last = runs.at(-1)
    if (font === undefined) {
      if (last?.actual === undefined) {
        runs.push({ font: fontOf(files[weight][0]!), text: box, actual: char })
      } else {
        last.text += box
        last.actual += char
      }
    } else if (last?.font === font && last.actual === undefined) last.text += char
    else runs.push({ font, text: char, actual: undefined })
  }
  return runs
}

/** Undefined if no font has the character. */
function fontFor(codePoint: number, weight: Weight): Font | undefined {
  const file = files[weight].find((each) => fontOf(each).hasGlyphForCodePoint(codePoint))
  return file === undefined ? undefined : fontOf(file)
}
