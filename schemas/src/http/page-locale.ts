import { shortText } from './fields.ts'

/** Languages that the hosted pages are written in. */
export const pageLanguages = ['en', 'de', 'fr', 'es', 'pt', 'ja'] as const

export type PageLanguage = (typeof pageLanguages)[number]

/**
 * The language of a session's pages, with a region for dates and amounts if needed: `de`, `pt-BR`. Without a value, with
 * `auto`, and for a language that the pages are not written in: the language of the browser. No text is refused, because
 * clients send the field that once was ignored.
 */
export const pageLocale = shortText.nullable().meta({
  description:
    `Language of the pages, with or without a region: \`de\`, \`pt-BR\`. They are written in ${pageLanguages.join(', ')}. ` +
    'With another language, `auto`, null or no value, the browser decides.',
})
