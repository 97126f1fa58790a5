import {
  decideTaxDetails,
  type TaxDetails,
  type EnteredTaxDetails,
} from '@tollgate/domain/tax/tax-details'
import type { NeededDetails } from '@tollgate/domain/tax-service/needs-tax-details'
import { findTaxCountry, partsOfPlace, taxPlace } from '@tollgate/domain/tax/tax-countries'
import { elsewhere, regionsToChoose } from '../countries.ts'

/** The fields of the form of business details, as text. */
export type BillingForm = {
  readonly isBusiness: boolean
  /** Country of the business or of the customer, or its region, such as `CA-ON`. Empty if the customer has not chosen one. */
  readonly country: string
  readonly businessName: string
  readonly taxId: string
}

export type BillingField = 'country' | 'taxId'

export type BillingDecision =
  | { readonly kind: 'accept'; readonly details: TaxDetails }
  | { readonly kind: 'refuse'; readonly field: BillingField }

export function billingFromForm(form: Readonly<Record<string, string>>): BillingForm {
  const textOf = (name: string): string => form[name]?.trim().slice(0, 100) ?? ''
  return {
    isBusiness: form['isBusiness'] === 'yes',
    country: textOf('country'),
    businessName: textOf('businessName'),
    taxId: textOf('taxId'),
  }
}

/** Returns the form with the stored details. `hasStates`: the form offers the states of the US. */
export function billingFromStored(known: TaxDetails | undefined, hasStates: boolean): BillingForm {
  return {
    isBusiness: known?.isBusiness ?? false,
    country: placeOf(known, hasStates),
    businessName: known?.businessName ?? '',
    taxId: known?.taxId ?? '',
  }
}

function placeOf(known: TaxDetails | undefined, hasStates: boolean): string {
  if (known === undefined) return ''
  const { country, region } = known
  if (country === null) return elsewhere
  // Other regions than those that the form offers stay stored as long as the country does not change.
  const isOffered = regionsToChoose(country, hasStates).includes(region ?? '')
  return taxPlace({ country, ...(isOffered && region && { region }) })
}

export function taxDetailsOfForm(form: BillingForm): EnteredTaxDetails {
  const { isBusiness, businessName, taxId } = form
  const place = form.country === elsewhere ? undefined : partsOfPlace(form.country)
  const { country, region } = place ?? {}
  return isBusiness
    ? { isBusiness, businessName, country, region, taxId }
    : { isBusiness, customerCountry: country, region }
}

/** Decides about the details. If the tax depends on the country, and on the state of a customer in the US, they are required. */
export function decideBilling(
  form: BillingForm,
  known: TaxDetails | undefined,
  { isNeeded, isStateNeeded }: NeededDetails,
): BillingDecision {
  if (isNeeded && form.country === '') return { kind: 'refuse', field: 'country' }
  const { country, region } = partsOfPlace(form.country)
  const hasStates = findTaxCountry(country)?.otherRegions !== undefined
  if (isStateNeeded && hasStates && region === undefined) {
    return { kind: 'refuse', field: 'country' }
  }
  const decision = decideTaxDetails(taxDetailsOfForm(form), known)
  if (decision.kind === 'accept') return decision
  return { kind: 'refuse', field: decision.field === 'taxId' ? 'taxId' : 'country' }
}

/** Returns whether the form contains any details. Most customers leave it unchanged if it is optional. */
export function hasDetails({ isBusiness, country }: BillingForm): boolean {
  return isBusiness || country !== ''
}
