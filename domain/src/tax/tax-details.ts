import { findTaxCountry, taxIdTypes, type TaxIdType } from './tax-countries.ts'

/** Location and kind of a customer, on which its taxes depend. */
export type TaxDetails = {
  readonly isBusiness: boolean
  readonly businessName: string | null
  readonly customerName: string | null
  /** Country of the business or the customer, ISO 3166-1 alpha-2; null if unknown. */
  readonly country: string | null
  /** Province of Canada, whose regions have rates of their own, or state of the US; ISO 3166-2 without the country. Otherwise absent. */
  readonly region?: string | null
  /** Tax id of a business, without spaces, in upper case. */
  readonly taxId: string | null
  readonly taxIdType: TaxIdType | null
  /** Postal address in lines separated by line feeds, without the country; null or absent if unknown. */
  readonly address?: string | null
  /** Address for invoices; null or absent for the customer's own address. */
  readonly email?: string | null
}

/** Tax details as the customer entered them. Empty text means the same as absent. */
export type EnteredTaxDetails = {
  readonly isBusiness: boolean
  readonly businessName?: string | undefined
  readonly country?: string | undefined
  readonly taxId?: string | undefined
  readonly customerCountry?: string | undefined
  readonly region?: string | undefined
  /** New name; undefined if it is unchanged. */
  readonly customerName?: string | undefined
  /** New address; undefined if it is unchanged. */
  readonly address?: string | undefined
  /** New email address; undefined if it is unchanged. */
  readonly email?: string | undefined
}

export type TaxDetailsDecision =
  | { readonly kind: 'accept'; readonly details: TaxDetails }
  | {
      readonly kind: 'refuse'
      readonly field: 'country' | 'customerCountry' | 'region' | 'taxId'
      readonly reason: string
    }

/**
 * Checks tax details. `known` are the customer's stored details, which supply the country, name and address if the customer does
 * not enter them again.
 */
export function decideTaxDetails(
  entered: EnteredTaxDetails,
  known: TaxDetails | undefined,
): TaxDetailsDecision {
  const customerName = changedText(entered.customerName, known?.customerName)
  const email = changedText(entered.email, known?.email)
  const kept = {
    customerName,
    address: changedText(entered.address, known?.address),
    ...(email !== null && { email }),
  }
  if (entered.isBusiness) return decideBusiness(entered, kept, known)
  const country = codeOf(entered.customerCountry) ?? known?.country ?? null
  const taxCountry = country === null ? undefined : findTaxCountry(country)
  if (country !== null && taxCountry === undefined) {
    return refuse('customerCountry', notSupported('customerCountry', country))
  }
  const region = decideRegion(entered, country, known)
  if (typeof region === 'object') return region
  const noBusiness = { isBusiness: false, businessName: null, taxId: null, taxIdType: null }
  return {
    kind: 'accept',
    details: { ...noBusiness, ...kept, country, ...(region !== undefined && { region }) },
  }
}

/**
 * Returns the region to store, or the refusal. A region with a rate of its own is required, a state of the US is optional, and the
 * regions of other countries are ignored. A customer whose country does not change keeps the region.
 */
function decideRegion(
  entered: EnteredTaxDetails,
  country: string | null,
  known: TaxDetails | undefined,
): string | Refusal | undefined {
  const { regions: rated, otherRegions } = (country && findTaxCountry(country)) || {}
  const regions = rated === undefined ? otherRegions : new Set(rated.keys())
  if (regions === undefined) return undefined
  const kept = known?.country === country ? known?.region : undefined
  const region = codeOf(entered.region) ?? kept ?? undefined
  if (region !== undefined && regions.has(region)) return region
  if (region === undefined && rated === undefined) return undefined
  const expected = `expected one of ${[...regions].sort().join(', ')}`
  return region === undefined
    ? refuse('region', `region is required for ${country}: ${expected}`)
    : refuse('region', `region ${region} is not one of ${country}: ${expected}`)
}

function decideBusiness(
  entered: EnteredTaxDetails,
  kept: Pick<TaxDetails, 'customerName' | 'address' | 'email'>,
  known: TaxDetails | undefined,
): TaxDetailsDecision {
  const country = codeOf(entered.country)
  if (country === undefined) {
    return refuse('country', 'country is required where isBusiness is true')
  }
  const taxCountry = findTaxCountry(country)
  if (taxCountry === undefined) return refuse('country', notSupported('country', country))
  const region = decideRegion(entered, country, known)
  if (typeof region === 'object') return region
  const taxId = codeOf(entered.taxId)
  if (taxId !== undefined && !taxCountry.taxId.test(taxId)) {
    return refuse('taxId', `taxId ${taxId} is not a tax id of ${country}`)
  }
  const details: TaxDetails = {
    isBusiness: true,
    businessName: textOf(entered.businessName) ?? null,
    ...kept,
    country,
    ...(region !== undefined && { region }),
    taxId: taxId ?? null,
    taxIdType: taxId === undefined ? null : taxIdTypes[taxCountry.area],
  }
  return { kind: 'accept', details }
}

/** Returns the text after the change. Empty text removes it. */
function changedText(entered: string | undefined, known: string | null | undefined): string | null {
  return entered === undefined ? (known ?? null) : (textOf(entered) ?? null)
}

function textOf(text: string | undefined): string | undefined {
  return text?.trim() || undefined
}

function codeOf(text: string | undefined): string | undefined {
  return text?.replaceAll(/\s/g, '').toUpperCase() || undefined
}

function notSupported(field: string, country: string): string {
  return `${field} ${country} is not supported: expected a state of the EU, AU, CA, CH, GB, NO, NZ or US`
}

type Refusal = Extract<TaxDetailsDecision, { kind: 'refuse' }>

function refuse(field: Refusal['field'], reason: string): Refusal {
  return { kind: 'refuse', field, reason }
}
