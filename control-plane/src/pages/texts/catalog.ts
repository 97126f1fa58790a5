/*
 * The types of the texts. The English catalog of an area defines the keys. `{{name}}` in an English text is a value that the page
 * must pass. A text that depends on a number has one key for each plural form of the language, such as `requests_one` and
 * `requests_other`. The page uses the key `requests` and passes `count`.
 */

export type Catalog = Readonly<Record<string, string>>

type PluralForm = 'zero' | 'one' | 'two' | 'few' | 'many' | 'other'

/** The key that a page uses, without the plural form. */
export type BaseKey<Key extends string> = Key extends `${infer Base}_${PluralForm}` ? Base : Key

type PluralBase<English> = keyof English extends infer Key
  ? Key extends `${infer Base}_other`
    ? Base
    : never
  : never

/**
 * The texts of one area in a language other than English. A key that English does not have is a compile error. A key may be missing
 * until its translation is written: the page then shows the English text, and a test reports the key.
 */
export type Translation<English extends Catalog> = {
  readonly [
    Key in
      | Exclude<keyof English, `${PluralBase<English>}_${PluralForm}`>
      | `${PluralBase<English>}_${PluralForm}`
  ]?: string
}

/** The names between double braces in a text. */
export type NamesIn<Text extends string> = Text extends `${string}{{${infer Name}}}${infer Rest}`
  ? Name | NamesIn<Rest>
  : never
