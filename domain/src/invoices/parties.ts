import type { Customer } from '../customers/repository.ts'
import type { Merchant } from '../merchants/repository.ts'
import type { InvoiceParties } from './invoice.ts'

/** Who sells and who buys, as an invoice that is issued now says it for good. */
export function partiesOf(
  provider: { readonly name: string },
  merchant: Merchant,
  customer: Pick<Customer, 'reference' | 'name' | 'email'>,
): InvoiceParties {
  const { country, companyNumber, supportEmail } = merchant
  return {
    seller: {
      name: merchant.legalName ?? provider.name,
      country,
      companyNumber,
      taxId: merchant.vatNumber ?? merchant.taxId,
      supportEmail,
    },
    buyer: { reference: customer.reference, name: customer.name, email: customer.email },
  }
}
