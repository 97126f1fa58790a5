import { findCustomer, type Customer } from '../customers/repository.ts'
import { findMerchant, type Merchant } from '../merchants/repository.ts'
import { findProduct, type Product } from '../catalog/products-repository.ts'
import type { TaxDetails } from '../tax/tax-details.ts'
import { findTaxDetails } from '../tax/tax-details-repository.ts'
import type { UnitOfWork } from '../unit-of-work/unit-of-work.ts'
import type { InvoiceParties } from './invoice.ts'

/** Name of the provider. The environment's database does not store it. */
export type Seller = { readonly name: string }

/** Returns the seller, buyer and product to store on an invoice that is issued now. */
export async function readParties(
  { sql, providerId }: Pick<UnitOfWork, 'sql' | 'providerId'>,
  customerRef: string,
  productRef: string | null,
  seller: Seller,
): Promise<InvoiceParties> {
  const [customer, taxDetails, merchant, product] = await Promise.all([
    findCustomer(sql, providerId, customerRef),
    findTaxDetails(sql, providerId, customerRef),
    findMerchant(sql, providerId),
    productRef === null ? undefined : findProduct(sql, providerId, productRef),
  ])
  if (customer === undefined) throw new Error(`there is no customer ${customerRef} to charge`)
  return partiesOf(seller, merchant, customer, taxDetails, product)
}

function partiesOf(
  seller: Seller,
  merchant: Merchant,
  customer: Pick<Customer, 'reference' | 'name' | 'email'>,
  taxDetails: TaxDetails | undefined,
  product: Pick<Product, 'name'> | undefined,
): InvoiceParties {
  const { country, companyNumber, supportEmail, address } = merchant
  return {
    seller: {
      name: merchant.legalName ?? merchant.displayName ?? seller.name,
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
  details: TaxDetails | undefined,
): InvoiceParties['buyer'] {
  if (details === undefined) return { reference, name, email }
  const { country, taxId, businessName, customerName, address = null } = details
  const parties = { name: businessName ?? customerName ?? name, email: details.email ?? email }
  return { reference, ...parties, country, taxId, address }
}
