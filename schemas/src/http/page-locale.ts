import { shortText } from './fields.ts'

/** Languages of the hosted pages. */
export const pageLanguages = ['en', 'de', 'fr', 'es', 'pt', 'ja'] as const

export type PageLanguage = (typeof pageLanguages)[number]

/**
 * Language of a session's pages, with an optional region for dates and amounts: `de`, `pt-BR`. Without a value, with `auto` and for
 * an unsupported language, the browser's language is used. No text is refused, because clients send this field from the time when
 * it was ignored.
 */
export const pageLocale = shortText.nullable().meta({
  description:
    `Language of the pages, with or without a region: \`de\`, \`pt-BR\`. They are written in ${pageLanguages.join(', ')}. ` +
    'With another language, `auto`, null or no value, the browser decides.',
})
