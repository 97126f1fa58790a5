import i18next from 'i18next'
import { createElement, Fragment, isValidElement, type ReactNode } from 'react'
import { pageLanguages, type PageLanguage } from '@tollgate/schemas/http/page-locale'
import type { BaseKey, NamesIn } from './catalog.ts'
import { catalogs, type English } from './catalogs.ts'

/** `portal:cancelTitle`: an area and a key of its English catalog, without the plural form. */
export type TextKey = {
  [Area in keyof English]: `${Area}:${BaseKey<keyof English[Area] & string>}`
}[keyof English]

/** The English texts of a key: of one with plural forms, all of them. */
type EnglishOf<Key> = Key extends `${infer Area extends keyof English}:${infer Name}`
  ? {
      [Each in keyof English[Area]]: BaseKey<Each & string> extends Name
        ? English[Area][Each]
        : never
    }[keyof English[Area]]
  : never

type IsPlural<Key> = Key extends `${infer Area extends keyof English}:${infer Name}`
  ? `${Name}_other` extends keyof English[Area]
    ? true
    : false
  : never

type NamesOf<Key> =
  NamesIn<EnglishOf<Key> & string> | (IsPlural<Key> extends true ? 'count' : never)

/** A number is written as the page's language writes numbers. Money and dates are passed as text (`formats.money`). */
type Value = string | number | bigint

type ValuesOf<Key, Part> = {
  readonly [Name in NamesOf<Key>]: Name extends 'count'
    ? IsPlural<Key> extends true
      ? number
      : Part
    : Part
}

type Arguments<Key, Part> = [NamesOf<Key>] extends [never] ? [] : [values: ValuesOf<Key, Part>]

/** The keys of texts that take no values, for tables of labels. */
export type PlainKey = {
  [Key in TextKey]: [NamesOf<Key>] extends [never] ? Key : never
}[TextKey]

/** Returns the text of a key in the page's language, with the values in it. React escapes it. */
export type Texts = {
  <Key extends TextKey>(key: Key, ...values: Arguments<Key, Value>): string
  /** The same where values are elements, such as a link: returns what to put into the page. */
  readonly rich: <Key extends TextKey>(key: Key, values: ValuesOf<Key, ReactNode>) => ReactNode[]
}

const library = i18next.createInstance()
void library.init({
  resources: catalogs,
  fallbackLng: 'en',
  supportedLngs: [...pageLanguages],
  initAsync: false,
  keySeparator: false,
  // React escapes what it shows.
  interpolation: { escapeValue: false },
})

/** `count` writes a number as the reader's locale does. */
export function textsFor(language: PageLanguage, count: (value: number | bigint) => string): Texts {
  const translate = library.getFixedT(language)
  const plain = new Map<TextKey, string>()
  const text = (key: TextKey, values?: Readonly<Record<string, Value>>): string => {
    if (values === undefined) {
      const known = plain.get(key) ?? translate(key as string, { nest: false })
      plain.set(key, known)
      return known
    }
    const written = Object.entries(values).map(([name, value]) => [
      name,
      typeof value === 'string' ? value : count(value),
    ])
    // The number as it is chooses the plural form; the text shows it as it is written.
    const { count: number } = values
    return translate(key as string, {
      ...(typeof number === 'number' && { count: number }),
      replace: Object.fromEntries(written),
      nest: false,
    })
  }
  const rich = (key: TextKey, values: Readonly<Record<string, ReactNode>>): ReactNode[] => {
    const names = Object.keys(values)
    const elements = names.filter((name) => isValidElement(values[name]))
    const marked = elements.map((name) => [name, `${mark}${names.indexOf(name)}${mark}`])
    const whole = text(key, { ...values, ...Object.fromEntries(marked) } as Record<string, Value>)
    return whole
      .split(new RegExp(`${mark}(\\d+)${mark}`))
      .map((part, index) =>
        index % 2 === 0
          ? part
          : createElement(Fragment, { key: index }, values[names[Number(part)] ?? '']),
      )
  }
  return Object.assign(text, { rich }) as Texts
}

/** Stands for an element while its text is put together. No text of ours, and none that is stored, has this character. */
const mark = '\u0000'
