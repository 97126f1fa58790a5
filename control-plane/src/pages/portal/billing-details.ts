import type { Customer } from '@tollgate/domain/customers/repository'
import type { TaxDetails, EnteredTaxDetails } from '@tollgate/domain/tax/tax-details'
import { findTaxDetails } from '@tollgate/domain/tax/tax-details-repository'
import { readNeededDetails } from '@tollgate/domain/tax-service/needs-tax-details'
import { addressText, emailText } from '@tollgate/schemas/http/fields'
import { addressCharsMax } from '@tollgate/schemas/limits'
import { read, type ReadParts } from '../../access/read.ts'
import {
  decideBilling,
  billingFromStored,
  taxDetailsOfForm,
  billingFromForm,
  type BillingField,
  type BillingForm,
} from '../checkout/billing-form.ts'
import type { Portal } from './portal.ts'

/** The fields of the form of billing details, as text: those of the checkout, and those that only invoices show. */
export type DetailsForm = BillingForm & {
  readonly name: string
  readonly invoiceEmail: string
  /** Lines separated by line feeds. */
  readonly address: string
}

export type DetailsField = BillingField | 'invoiceEmail' | 'address'

export type BillingDetails = {
  /** The details that the next invoice uses. */
  readonly stored: DetailsForm
  readonly known: TaxDetails | undefined
  /** Whether the provider collects taxes, so that the country is required. */
  readonly isNeeded: boolean
  /** Whether a customer in the US has to name the state. */
  readonly isStateNeeded: boolean
}

export async function readBillingDetails(
  pages: ReadParts,
  { caller, customer }: Portal,
): Promise<BillingDetails> {
  const { providerId } = caller
  return read(pages, caller, async (sql) => {
    const known = await findTaxDetails(sql, providerId, customer.reference)
    const needed = await readNeededDetails(sql, providerId)
    const stored = {
      ...billingFromStored(known, needed.isStateNeeded),
      name: known?.customerName ?? customer.name ?? '',
      invoiceEmail: known?.email ?? customer.email,
      address: known?.address ?? '',
    }
    return { stored, known, ...needed }
  })
}

export function detailsFromForm(form: Readonly<Record<string, string>>): DetailsForm {
  return {
    ...billingFromForm(form),
    name: form['name']?.trim().slice(0, 100) ?? '',
    invoiceEmail: form['invoiceEmail']?.trim().slice(0, 254) ?? '',
    // One character more than allowed is kept, so that a longer address is refused instead of cut.
    address: trimmedLines(form['address'] ?? '').slice(0, addressCharsMax + 1),
  }
}

/** Returns the trimmed lines without empty ones. Browsers send line breaks as CRLF. */
function trimmedLines(text: string): string {
  const lines = text.split(/\r?\n/).map((line) => line.trim())
  return lines.filter((line) => line !== '').join('\n')
}

/**
 * Returns the details to store. The customer's own name and email address are left out, so that invoices follow them when they
 * change.
 */
export function changedTaxDetails(
  form: DetailsForm,
  own: Pick<Customer, 'name' | 'email'>,
): EnteredTaxDetails {
  const { name, address, invoiceEmail } = form
  const email = invoiceEmail === own.email ? '' : invoiceEmail
  const customerName = name === own.name?.trim() ? '' : name
  return { ...taxDetailsOfForm(form), customerName, address, email }
}

/** Returns the first invalid field, or undefined. Fields that the checkout also has follow the checkout's rules. */
export function findInvalidField(
  form: DetailsForm,
  { known, ...needed }: Pick<BillingDetails, 'known' | 'isNeeded' | 'isStateNeeded'>,
): DetailsField | undefined {
  const { invoiceEmail, address } = form
  if (invoiceEmail !== '' && !emailText.safeParse(invoiceEmail).success) return 'invoiceEmail'
  const decision = decideBilling(form, known, needed)
  if (decision.kind === 'refuse') return decision.field
  return addressText.safeParse(address).success ? undefined : 'address'
}
