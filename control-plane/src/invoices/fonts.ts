import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { create, type Font } from 'fontkit'

/*
 * The fonts of invoices are part of the service. The fonts that every PDF reader has contain only the letters of western Europe,
 * but names come from everywhere. DejaVu contains the alphabets of Europe, Arabic, Hebrew and more. BIZ UDPGothic contains Japanese
 * and with it many Chinese characters. A character that neither font has is printed as a box, but PDF readers still copy, search
 * and speak the character itself.
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

/** Returns the font of a file. A font is parsed once, when the first text needs it. */
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
  /** The original characters, shown as boxes in `text` because no font has them. Undefined if `text` has no boxes. */
  readonly actual: string | undefined
}

/** DejaVu has this character. pdfkit places a font's own box for missing characters wrongly. */
const box = '□'

/** Splits the text into parts, each with the font that has its characters. */
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

/** Returns undefined if no font has the character. */
function fontFor(codePoint: number, weight: Weight): Font | undefined {
  const file = files[weight].find((each) => fontOf(each).hasGlyphForCodePoint(codePoint))
  return file === undefined ? undefined : fontOf(file)
}
