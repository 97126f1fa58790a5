import Negotiator from 'negotiator'
import { pageLanguages, type PageLanguage } from '@tollgate/schemas/http/page-locale'

/** Locales for the formats of numbers, money and dates if the reader's region is unknown. */
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
  /** BCP 47 tag of the language with a region, which decides the formats of numbers, money and dates. */
  readonly locale: string
}

/**
 * Returns the language of a page. The `locale` of the session decides. Without one, it is the first language in the Accept-Language
 * header for which there are texts, otherwise English. The region comes from the session, or from the header if it names the same
 * language, so that a page never combines one language with the date format of another.
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
 * Returns the locale to store with a session, if there are texts in its language. `de_DE` and `de-de` become `de-DE`. Null means
 * that the browser decides.
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
 * Returns the language, script and region of a tag, or undefined if there is no such locale. Any client can send any header, so the
 * tag may be malformed. Extensions are removed, because they could format amounts in digits that the forms do not parse.
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
