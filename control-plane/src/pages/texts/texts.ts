import i18next from 'i18next'
import { createElement, Fragment, isValidElement, type ReactNode } from 'react'
import { pageLanguages, type PageLanguage } from '@tollgate/schemas/http/page-locale'
import type { BaseKey, NamesIn } from './catalog.ts'
import { catalogs, type English } from './catalogs.ts'

/** An area and a key of its English catalog, without the plural form, such as `portal:cancelTitle`. */
export type TextKey = {
  [Area in keyof English]: `${Area}:${BaseKey<keyof English[Area] & string>}`
}[keyof English]

/** The English text of a key, or all its texts if it has plural forms. */
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

/** A number is formatted for the page's language. Money and dates are passed as formatted text (`formats.money`). */
type Value = string | number | bigint

type ValuesOf<Key, Part> = {
  readonly [Name in NamesOf<Key>]: Name extends 'count'
    ? IsPlural<Key> extends true
      ? number
      : Part
    : Part
}

type Arguments<Key, Part> = [NamesOf<Key>] extends [never] ? [] : [values: ValuesOf<Key, Part>]

/** The keys of texts without values, for tables of labels. */
export type PlainKey = {
  [Key in TextKey]: [NamesOf<Key>] extends [never] ? Key : never
}[TextKey]

/** Returns the text of a key in the page's language, with its values. The text is not escaped, because React escapes it. */
export type Texts = {
  <Key extends TextKey>(key: Key, ...values: Arguments<Key, Value>): string
  /** Like the function itself, for values that are elements, such as a link. Returns the nodes for the page. */
  readonly rich: <Key extends TextKey>(key: Key, values: ValuesOf<Key, ReactNode>) => ReactNode[]
}

const library = i18next.createInstance()
void library.init({
  resources: catalogs,
  fallbackLng: 'en',
  supportedLngs: [...pageLanguages],
  initAsync: false,
  keySeparator: false,
  // React escapes all text that it renders.
  interpolation: { escapeValue: false },
})

/** Returns the texts of a language. `count` formats a number for the reader's locale. */
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
    // The number itself selects the plural form. The text shows the formatted number.
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

/** Placeholder of an element while its text is built. Neither a catalog text nor a stored text contains this character. */
const mark = '\u0000'
