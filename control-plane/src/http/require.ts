import { findCustomer, type Customer } from '@tollgate/domain/customers/repository'
import { findProduct, type Product } from '@tollgate/domain/products/repository'
import { findProvider, type Provider } from '@tollgate/domain/providers/repository'
import { refusals } from '../errors.ts'
import type { AppParts } from './app-parts.ts'
import type { Caller } from './plugins/authentication.ts'

/* What a request names and must exist for the caller; what does not is refused, in the same words for everybody. */

type Stores = Pick<AppParts, 'database'>

/** By the customer's own reference or any that was ever linked. */
export async function requireCustomer(
  { database }: Stores,
  { environment, providerId }: Caller,
  anyReference: string,
): Promise<Customer> {
  const customer = await findCustomer(database.in(environment), providerId, anyReference)
  if (customer === undefined) throw refusals.customerNotFound(anyReference)
  return customer
}

export async function requireProduct(
  { database }: Stores,
  { environment, providerId }: Caller,
  reference: string,
): Promise<Product> {
  const product = await findProduct(database.in(environment), providerId, reference)
  if (product === undefined) throw refusals.productNotFound(reference)
  return product
}

/** The provider of a key: no request names one. */
export async function requireProvider(
  { database }: Stores,
  { providerId }: Pick<Caller, 'providerId'>,
): Promise<Provider> {
  const provider = await findProvider(database.control, providerId)
  if (provider === undefined) throw new Error(`the provider ${providerId} of a key is gone`)
  return provider
}
