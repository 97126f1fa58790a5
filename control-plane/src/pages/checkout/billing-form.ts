import {
  decideTaxDetails,
  type TaxDetails,
  type EnteredTaxDetails,
} from '@tollgate/domain/tax/tax-details'
import { elsewhere } from '../countries.ts'

/** The fields of the form of business details, as text. */
export type BillingForm = {
  readonly isBusiness: boolean
  /** Country of the business or of the customer. Empty if the customer has not chosen one. */
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

/** Returns the form with the stored details. */
export function billingFromStored(known: TaxDetails | undefined): BillingForm {
  return {
    isBusiness: known?.isBusiness ?? false,
    country: known?.country ?? (known === undefined ? '' : elsewhere),
    businessName: known?.businessName ?? '',
    taxId: known?.taxId ?? '',
  }
}

export function taxDetailsOfForm(form: BillingForm): EnteredTaxDetails {
  const { isBusiness, businessName, taxId } = form
  const country = form.country === elsewhere ? undefined : form.country
  return isBusiness
    ? { isBusiness, businessName, country, taxId }
    : { isBusiness, customerCountry: country }
}

/** Decides about the details. `isNeeded` means that the tax depends on the country, so that it is required. */
export function decideBilling(
  form: BillingForm,
  known: TaxDetails | undefined,
  isNeeded: boolean,
): BillingDecision {
  if (isNeeded && form.country === '') return { kind: 'refuse', field: 'country' }
  const decision = decideTaxDetails(taxDetailsOfForm(form), known)
  if (decision.kind === 'accept') return decision
  return { kind: 'refuse', field: decision.field === 'taxId' ? 'taxId' : 'country' }
}

/** Returns whether the form contains any details. Most customers leave it unchanged if it is optional. */
export function hasDetails({ isBusiness, country }: BillingForm): boolean {
  return isBusiness || country !== ''
}
