import { findTaxCountry, taxRateAt, type TaxCountry } from './tax-countries.ts'
import type { TaxDetails } from './tax-details.ts'

/**
 * `reverse_charge`: a business in another state of the EU accounts for the tax itself. `none`: the sale is not taxed.
 * `not_collecting`: the sale may be taxed, but the provider does not collect the tax.
 */
export type TaxTreatment = 'standard' | 'reverse_charge' | 'none' | 'not_collecting'

export type TaxRule = {
  readonly treatment: TaxTreatment
  /** Rate in tenths of a percent, as decimal text. */
  readonly ratePerMille: string
  /** Assumed country of the customer, ISO 3166-1 alpha-2; null if unknown. */
  readonly country: string | null
  /** Region whose rate applies; absent if the rate is that of the country. */
  readonly region?: string
  /** The taxes that the provider's tax service named. Absent if the built-in rule decided. */
  readonly parts?: readonly TaxPart[]
}

/** One of the taxes that make up a rate, such as that of a state and that of a county. */
export type TaxPart = {
  readonly label: string
  /** Who levies the tax, as the tax service names it; null if it does not. */
  readonly jurisdiction: string | null
  /** Tenths of a percent, as decimal text. */
  readonly ratePerMille: string
}

/** How a sale is taxed. */
export type TaxTerms = {
  readonly rule: TaxRule
  /** Whether prices contain the tax. */
  readonly isInclusive: boolean
}

export type TaxSeller = {
  /** ISO 3166-1 alpha-2 code. */
  readonly country: string | null
  /** A seller without a number is not registered for VAT and collects none. */
  readonly vatNumber: string | null
}

export type TaxBuyer = Pick<TaxDetails, 'isBusiness' | 'country' | 'region' | 'taxId'>

/**
 * Returns the rule that taxes a sale over the Internet at that instant. A buyer without a country is assumed to be in the seller's
 * country.
 */
export function decideTaxRule(seller: TaxSeller, buyer: TaxBuyer, at: Date): TaxRule {
  const country = buyer.country ?? seller.country
  const from = findPlace(seller.country)
  const to = findPlace(country)
  const untaxed = (treatment: TaxTreatment): TaxRule => ({ treatment, ratePerMille: '0', country })
  if (from === undefined || !collectsTax(seller)) return untaxed('not_collecting')
  if (to === undefined || to.area === 'us') return untaxed('none')
  // A provider registered in one VAT area collects no VAT in the other.
  if (from.area !== to.area) return untaxed(buyer.isBusiness ? 'none' : 'not_collecting')
  const isAbroad = country !== seller.country
  if (isAbroad && buyer.isBusiness && buyer.taxId !== null) return untaxed('reverse_charge')
  const region = to.regions?.has(buyer.region ?? '') === true ? buyer.region! : null
  return {
    treatment: 'standard',
    ratePerMille: taxRateAt(to, region, at).toString(),
    country,
    ...(region !== null && { region }),
  }
}

/** Returns whether the seller collects taxes from any customers. */
export function collectsTax({ country, vatNumber }: TaxSeller): boolean {
  const from = findPlace(country)
  return vatNumber !== null && from !== undefined && from.area !== 'us'
}

function findPlace(country: string | null): TaxCountry | undefined {
  return country === null ? undefined : findTaxCountry(country)
}
