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
  const regional = tags
    .map(regionalOf)
    .find((tag) => tag?.includes('-') && languageOf(tag) === language)
  return { language, locale: regional ?? defaultLocales[language] }
}

/**
 * Returns the locale that a session keeps: one of a language that there are texts in. `de_DE` and `de-de` are `de-DE`. Null:
 * the browser decides.
 */
export function knownLocale(given: string | null | undefined): string | null {
  const locale = regionalOf((given ?? '').trim().replaceAll('_', '-'))
  return locale === undefined || languageOf(locale) === undefined ? null : locale
}

function firstOf(tags: readonly string[]): PageLanguage {
  return languageOf(tags[0] ?? '') ?? 'en'
}

function languageOf(tag: string): PageLanguage | undefined {
  const [name] = tag.toLowerCase().split('-')
  return pageLanguages.find((language) => language === name)
}

/**
 * Returns the language, script and region of a tag; undefined if there is no such locale. Headers come from anyone, so anything
 * may be in them. An extension would write amounts in digits that the forms do not read.
 */
function regionalOf(tag: string): string | undefined {
  try {
    const { language, script, region } = new Intl.Locale(tag)
    const regional = [language, script, region].filter((part) => part !== undefined).join('-')
    return Intl.NumberFormat.supportedLocalesOf(regional).length > 0 ? regional : undefined
  } catch {
    return undefined
  }
}
