import type { PageLanguage } from '@tollgate/schemas/http/page-locale'
import { formatsFor, type Formats } from './formats.ts'
import { readerLanguage } from './texts/languages.ts'
import { textsFor, type Texts } from './texts/texts.ts'

/** The language of a page, with its texts and its formats of numbers, amounts and dates. */
export type Reader = {
  readonly language: PageLanguage
  readonly t: Texts
  readonly formats: Formats
}

/** Readers by locale. Creating formats takes 0.5 ms. Requests may name any region, so the number of readers is limited. */
const readers = new Map<string, Reader>()
const readersMax = 64

/** Returns the reader of a browser, or of a session that names a locale. The session's locale has priority. */
export function readerOf(
  acceptLanguage: string | undefined,
  sessionLocale: string | null = null,
): Reader {
  const { language, locale } = readerLanguage(acceptLanguage, sessionLocale)
  const known = readers.get(locale)
  if (known !== undefined) return known
  if (readers.size >= readersMax) readers.clear()
  const formats = formatsFor(locale)
  const reader = { language, t: textsFor(language, formats.count), formats }
  readers.set(locale, reader)
  return reader
}
