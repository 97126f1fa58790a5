import Negotiator from 'negotiator'
import { pageLanguages, type PageLanguage } from '@tollgate/schemas/http/page-locale'

/** How numbers, money and dates are written where the reader's region is not known. */
const defaultLocales: Readonly<Record<PageLanguage, string>> = {
  en: 'en-US',
  de: 'de-DE',
  fr: 'fr-FR',
  es: 'es-ES',
  pt: 'pt-BR',
  ja: 'ja-JP',
}

export type ReaderLanguage = {
  readonly language: PageLanguage
  /** BCP 47: the language with a region, which decides how numbers, money and dates are written. */
  readonly locale: string
}

/**
 * Returns the language of a page. The `locale` of the session decides; without one, the first language of the
 * Accept-Language header that there are texts in; otherwise English. The region is that of the session, or of the header
 * where it names the same language, so that a page is never written in one language with the dates of another.
 */
export function readerLanguage(
  acceptLanguage: string | undefined,
  sessionLocale: string | null,
): ReaderLanguage {
  const wanted = new Negotiator({ headers: { 'accept-language': acceptLanguage } })
  const language = languageOf(sessionLocale ?? '') ?? firstOf(wanted.languages([...pageLanguages]))
  const tags = sessionLocale?.includes('-') ? [sessionLocale] : wanted.languages()
  const regional = tags.find((tag) => tag.includes('-') && languageOf(tag) === language)
  const isKnown = regional !== undefined && isKnownTag(regional)
  return { language, locale: isKnown ? regional : defaultLocales[language] }
}

function firstOf(tags: readonly string[]): PageLanguage {
  return languageOf(tags[0] ?? '') ?? 'en'
}

function languageOf(tag: string): PageLanguage | undefined {
  const [name] = tag.toLowerCase().split('-')
  return pageLanguages.find((language) => language === name)
}

/** Headers come from anyone, so anything may be in them. */
function isKnownTag(tag: string): boolean {
  try {
    return Intl.NumberFormat.supportedLocalesOf(tag).length > 0
  } catch {
    return false
  }
}
