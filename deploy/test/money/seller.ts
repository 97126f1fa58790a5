import type { Customer } from '@tollgate/domain/customers/repository'

/** The provider and the customer about whom it decides. */
export type Seller = {
  readonly shop: { readonly providerId: string }
  readonly customer: Pick<Customer, 'reference'>
}
