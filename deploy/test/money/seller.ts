import type { Customer } from '@tollgate/domain/customers/repository'
import type { ShopOf } from './shop.ts'

/** The provider and the customer about whom it decides. */
export type Seller = {
  readonly shop: Pick<ShopOf<string>, 'providerId'>
  readonly customer: Pick<Customer, 'reference'>
}
