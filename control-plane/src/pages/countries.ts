import { taxCountryCodes } from '@tollgate/domain/tax/tax-countries'
import type { Reader } from './reader.ts'

/** The choice of a customer who is in none of the countries that can be told. It is no country code. */
export const elsewhere = 'elsewhere'

type Country = { readonly code: string; readonly name: string }

/** Returns the countries whose tax is known, by their names in the reader's language. */
export function countriesIn({ formats }: Reader): readonly Country[] {
  const names = new Intl.DisplayNames(formats.locale, { type: 'region' })
  return taxCountryCodes
    .map((code) => ({ code, name: names.of(code) ?? code }))
    .sort((one, other) => one.name.localeCompare(other.name, formats.locale))
}

/** Returns the name of a country by its ISO 3166-1 code, in the reader's language. */
export function countryName(code: string, { formats }: Reader): string {
  return new Intl.DisplayNames(formats.locale, { type: 'region' }).of(code) ?? code
}
