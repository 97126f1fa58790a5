import type { Customer } from '../customers/repository.ts'
import type { Merchant } from '../merchants/repository.ts'
import type { Product } from '../catalog/products-repository.ts'
import type { TaxDetails } from '../tax/tax-details.ts'
import type { InvoiceParties } from './invoice.ts'

/** Returns the seller, buyer and product to store on an invoice that is issued now. */
export function partiesOf(
  provider: { readonly name: string },
  merchant: Merchant,
  customer: Pick<Customer, 'reference' | 'name' | 'email'>,
  taxDetails: TaxDetails | undefined,
  product: Pick<Product, 'name'> | undefined,
): InvoiceParties {
  const { country, companyNumber, supportEmail, address } = merchant
  return {
    seller: {
      name: merchant.legalName ?? merchant.displayName ?? provider.name,
      country,
      companyNumber,
      taxId: merchant.vatNumber ?? merchant.taxId,
      supportEmail,
      address,
    },
    buyer: buyerOf(customer, taxDetails),
    ...(product === undefined ? {} : { productName: product.name }),
  }
}

function buyerOf(
  { reference, name, email }: Pick<Customer, 'reference' | 'name' | 'email'>,
  told: TaxDetails | undefined,
): InvoiceParties['buyer'] {
  if (told === undefined) return { reference, name, email }
  const { country, taxId, businessName, customerName, address = null } = told
  const parties = { name: businessName ?? customerName ?? name, email: told.email ?? email }
  return { reference, ...parties, country, taxId, address }
}
