import {
  findTaxCountry,
  partsOfPlace,
  taxCountryCodes,
  taxPlace,
} from '@tollgate/domain/tax/tax-countries'
import type { Reader } from './reader.ts'
import { regionNames } from './region-names.ts'

/** Choice of a customer whose country is not in the list. It is not a country code. */
export const elsewhere = 'elsewhere'

type Country = { readonly code: string; readonly name: string }

/**
 * Returns the regions of a country that are choices of their own: those with a rate of their own, and with `hasStates` the states of
 * the US. Empty for a country that is one choice.
 */
export function regionsToChoose(country: string, hasStates: boolean): readonly string[] {
  const { regions, otherRegions } = findTaxCountry(country) ?? {}
  return [...(regions?.keys() ?? []), ...(hasStates ? (otherRegions ?? []) : [])]
}

/**
 * Returns the countries whose tax is known, sorted by their names in the language of the page. A region can be a choice, such as
 * `CA-ON`, so that the form needs no second field.
 */
export function countriesIn(reader: Reader, hasStates: boolean): readonly Country[] {
  const { formats } = reader
  const names = countryNamesIn(reader)
  return taxCountryCodes
    .flatMap((country) => {
      const regions = regionsToChoose(country, hasStates)
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
  return region === undefined ? name : `${name}: ${regionNames[country]?.[region] ?? region}`
}

function countryNamesIn({ formats }: Reader): Intl.DisplayNames {
  return new Intl.DisplayNames(formats.locale, { type: 'region' })
}
