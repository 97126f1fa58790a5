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

/** Returns the reader of a browser, or of a session that names a locale. The session's locale goes first. */
export function readerOf(
  acceptLanguage: string | undefined,
  sessionLocale: string | null = null,
): Reader {
  const { language, locale } = readerLanguage(acceptLanguage, sessionLocale)
  const formats = formatsFor(locale)
  return { language, t: textsFor(language, formats.count), formats }
}
