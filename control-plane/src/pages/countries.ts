import {
  findTaxCountry,
  partsOfPlace,
  taxCountryCodes,
  taxPlace,
} from '@tollgate/domain/tax/tax-countries'
import type { Reader } from './reader.ts'

/** Choice of a customer whose country is not in the list. It is not a country code. */
export const elsewhere = 'elsewhere'

type Country = { readonly code: string; readonly name: string }

/**
 * Returns the countries whose tax is known, sorted by their names in the language of the page. Each region with a rate of its own is
 * a choice, such as `CA-ON`, so that the form needs no second field.
 */
export function countriesIn(reader: Reader): readonly Country[] {
  const { formats } = reader
  const names = countryNamesIn(reader)
  return taxCountryCodes
    .flatMap((country) => {
      const regions = [...(findTaxCountry(country)?.regions?.keys() ?? [])]
      return regions.length === 0
        ? [country]
        : regions.map((region) => taxPlace({ country, region }))
    })
    .map((code) => ({ code, name: nameOf(code, names) }))
    .sort((one, other) => one.name.localeCompare(other.name, formats.locale))
}

/**
 * Returns the name of a country by its ISO 3166-1 code, in the language of the page. The name of a region, such as `CA-ON`, follows
 * that of its country as people there write it.
 */
export function countryName(code: string, reader: Reader): string {
  return nameOf(code, countryNamesIn(reader))
}

function nameOf(code: string, names: Intl.DisplayNames): string {
  const { country, region } = partsOfPlace(code)
  const name = names.of(country) ?? country
  return region === undefined ? name : `${name}: ${regionNames[region] ?? region}`
}

function countryNamesIn({ formats }: Reader): Intl.DisplayNames {
  return new Intl.DisplayNames(formats.locale, { type: 'region' })
}

/** Names of Canadian provinces and territories. `Intl` has no names of regions. */
const regionNames: Readonly<Record<string, string>> = {
  AB: 'Alberta',
  BC: 'British Columbia',
  MB: 'Manitoba',
  NB: 'New Brunswick',
  NL: 'Newfoundland and Labrador',
  NS: 'Nova Scotia',
  NT: 'Northwest Territories',
  NU: 'Nunavut',
  ON: 'Ontario',
  PE: 'Prince Edward Island',
  QC: 'Québec',
  SK: 'Saskatchewan',
  YT: 'Yukon',
}
