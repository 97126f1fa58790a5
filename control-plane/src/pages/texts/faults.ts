import { pageLanguages, type PageLanguage } from '@tollgate/schemas/http/page-locale'
import type { Catalog } from './catalog.ts'
import { catalogs, type English } from './catalogs.ts'

/** Returns the faults of all texts, such as `de portal: cancel is missing`. */
export function catalogFaults(): string[] {
  const areas = Object.keys(catalogs.en) as (keyof English)[]
  return pageLanguages.flatMap((language) =>
    areas.flatMap((area) =>
      faultsOf(catalogs[language][area], catalogs.en[area], language).map(
        (fault) => `${language} ${area}: ${fault}`,
      ),
    ),
  )
}

/**
 * Returns the faults of an area's texts in a language: missing keys, keys that English does not have, missing plural forms, and
 * values that only one of the two texts names.
 */
export function faultsOf(texts: object, english: Catalog, language: PageLanguage): string[] {
  const found = new Map<string, unknown>(Object.entries(texts))
  const expected = expectedTexts(english, language)
  return [
    ...[...expected].flatMap(([key, text]) => {
      const translation = found.get(key)
      if (typeof translation !== 'string' || translation === '') return [`${key} is missing`]
      return [
        ...namesMissing(text, translation).map((name) => `${key}: {{${name}}} is missing`),
        ...namesMissing(translation, text).map((name) => `${key}: {{${name}}} is not in English`),
      ]
    }),
    ...[...found.keys()]
      .filter((key) => !expected.has(key))
      .map((key) => `${key} is not in English`),
  ]
}

/** Returns the keys that the language needs, each with an English text that names the same values. */
function expectedTexts(english: Catalog, language: PageLanguage): Map<string, string> {
  const forms = new Intl.PluralRules(language).resolvedOptions().pluralCategories
  const expected = Object.entries(english).flatMap(([key, text]): [string, string][] => {
    const base = /^(.+)_(one|other)$/.exec(key)?.[1]
    const general = english[`${base}_other`]
    if (base === undefined || general === undefined) return [[key, text]]
    // This runs for each plural text of English, but the map keeps each key once.
    return order.filter((form) => forms.includes(form)).map((form) => [`${base}_${form}`, general])
  })
  return new Map(expected)
}

const order: readonly Intl.LDMLPluralRule[] = ['zero', 'one', 'two', 'few', 'many', 'other']

function namesMissing(from: string, to: string): string[] {
  const names = namesIn(to)
  return [...namesIn(from)].filter((name) => !names.has(name))
}

function namesIn(text: string): Set<string> {
  return new Set([...text.matchAll(/\{\{(.+?)\}\}/g)].map(([, name]) => name ?? ''))
}
