import type { PageLanguage } from '@tollgate/schemas/http/page-locale'
import { formatsFor, type Formats } from './formats.ts'
import { readerLanguage } from './texts/languages.ts'
import { textsFor, type Texts } from './texts/texts.ts'

/** How a page is written for its reader: its language, its texts, and its numbers, amounts and dates. */
export type Reader = {
  readonly language: PageLanguage
  readonly t: Texts
  readonly formats: Formats
}

/** Building formats takes half a millisecond. Requests name any region they like, so the number of readers is limited. */
const readers = new Map<string, Reader>()
const readersMax = 64

/** Returns the reader of a browser, or of a session that names a locale. The session's locale goes first. */
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
