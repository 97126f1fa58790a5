import { z } from 'zod'

/** Languages that the hosted pages are written in. */
export const pageLanguages = ['en', 'de', 'fr', 'es', 'pt', 'ja'] as const

export type PageLanguage = (typeof pageLanguages)[number]

const pattern = new RegExp(`^(auto|(${pageLanguages.join('|')})(-([A-Z]{2}|[0-9]{3}))?)$`)

/**
 * The language of a session's pages, with a region for dates and amounts if needed: `de`, `pt-BR`. `auto`, or no value:
 * the language of the browser.
 */
export const pageLocale = z.string().regex(pattern, {
  error: `Expected auto or one of ${pageLanguages.join(', ')}, with or without a region, such as pt-BR`,
})
