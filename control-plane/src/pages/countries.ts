import { taxCountryCodes } from '@tollgate/domain/tax/tax-countries'
import type { Reader } from './reader.ts'

/** Choice of a customer whose country is not in the list. It is not a country code. */
export const elsewhere = 'elsewhere'

type Country = { readonly code: string; readonly name: string }

/** Returns the countries whose tax is known, sorted by their names in the language of the page. */
export function countriesIn({ formats }: Reader): readonly Country[] {
  const names = new Intl.DisplayNames(formats.locale, { type: 'region' })
  return taxCountryCodes
    .map((code) => ({ code, name: names.of(code) ?? code }))
    .sort((one, other) => one.name.localeCompare(other.name, formats.locale))
}

/** Returns the name of a country by its ISO 3166-1 code, in the language of the page. */
export function countryName(code: string, { formats }: Reader): string {
  return new Intl.DisplayNames(formats.locale, { type: 'region' }).of(code) ?? code
}
