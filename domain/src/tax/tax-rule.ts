import { findTaxCountry, taxRateAt, type TaxCountry } from './tax-countries.ts'
import type { TaxDetails } from './tax-details.ts'

/**
 * `reverse_charge`: a business of another state of the EU accounts for the tax itself. `none`: the sale is not taxed.
 * `not_collecting`: it may be, and the provider does not collect it.
 */
export type TaxTreatment = 'standard' | 'reverse_charge' | 'none' | 'not_collecting'

export type TaxRule = {
  readonly treatment: TaxTreatment
  /** In tenths of a percent. */
  readonly ratePerMille: bigint
  /** ISO 3166-1 alpha-2: where the customer is taken to be; null: nobody knows. */
  readonly country: string | null
}

/** How a sale is taxed. */
export type TaxTerms = {
  readonly rule: TaxRule
  /** Whether prices contain the tax. */
  readonly isInclusive: boolean
}

export type TaxSeller = {
  /** ISO 3166-1 alpha-2. */
  readonly country: string | null
  /** One who has none is not registered for VAT, and collects none. */
  readonly vatNumber: string | null
}

export type TaxBuyer = Pick<TaxDetails, 'isBusiness' | 'country' | 'taxId'>

/**
 * By which rule a sale over the Internet is taxed at that instant. A buyer who does not say where it is is where the
 * seller is.
 */
export function decideTaxRule(seller: TaxSeller, buyer: TaxBuyer, at: Date): TaxRule {
  const country = buyer.country ?? seller.country
  const from = placeOf(seller.country)
  const to = placeOf(country)
  const untaxed = (treatment: TaxTreatment): TaxRule => ({ treatment, ratePerMille: 0n, country })
  if (from === undefined || !collectsTax(seller)) return untaxed('not_collecting')
  if (to === undefined || to.area === 'us') return untaxed('none')
  // Registered in one of the areas of VAT, a provider collects none in the other.
  if (from.area !== to.area) return untaxed(buyer.isBusiness ? 'none' : 'not_collecting')
  const isAbroad = country !== seller.country
  if (isAbroad && buyer.isBusiness && buyer.taxId !== null) return untaxed('reverse_charge')
  return { treatment: 'standard', ratePerMille: taxRateAt(to, at), country }
}

/** Whether there are customers from whom the seller collects taxes. */
export function collectsTax({ country, vatNumber }: TaxSeller): boolean {
  const from = placeOf(country)
  return vatNumber !== null && from !== undefined && from.area !== 'us'
}

function placeOf(country: string | null): TaxCountry | undefined {
  return country === null ? undefined : findTaxCountry(country)
}
