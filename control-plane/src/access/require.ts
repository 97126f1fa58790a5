import { findCustomer, type Customer } from '@tollgate/domain/customers/repository'
import {
  dollarRate,
  findExchangeRate,
  type ExchangeRate,
} from '@tollgate/domain/money/exchange-rates'
import { findProduct, type Product } from '@tollgate/domain/catalog/products-repository'
import { findProvider, type Provider } from '@tollgate/domain/providers/repository'
import type { Queryable } from '@tollgate/platform/database/database'
import { refusals } from '../errors.ts'
import type { Caller } from './caller.ts'
import { read, readControl, type ReadParts } from './read.ts'

/* What a request names and must exist for the caller; what does not is refused, in the same words for everybody. */

/** By the customer's own reference or any that was ever linked. */
export function requireCustomer(
  stores: ReadParts,
  caller: Caller,
  anyReference: string,
): Promise<Customer> {
  return read(stores, caller, (sql) => getCustomer(sql, caller, anyReference))
}

/** The same, in a read in which more is to be found. */
export async function getCustomer(
  sql: Queryable,
  { providerId }: Caller,
  anyReference: string,
): Promise<Customer> {
  const customer = await findCustomer(sql, providerId, anyReference)
  if (customer === undefined) throw refusals.customerNotFound(anyReference)
  return customer
}

export function requireProduct(
  stores: ReadParts,
  caller: Caller,
  reference: string,
): Promise<Product> {
  return read(stores, caller, (sql) => getProduct(sql, caller, reference))
}

export async function getProduct(
  sql: Queryable,
  { providerId }: Caller,
  reference: string,
): Promise<Product> {
  const product = await findProduct(sql, providerId, reference)
  if (product === undefined) throw refusals.productNotFound(reference)
  return product
}

/** The provider of a key: no request names one. */
export async function requireProvider(
  stores: ReadParts,
  { providerId }: Pick<Caller, 'providerId'>,
): Promise<Provider> {
  const provider = await readControl(stores, { providerId }, (sql) => findProvider(sql, providerId))
  if (provider === undefined) throw new Error(`the provider ${providerId} of a key is gone`)
  return provider
}

/** Balances are shown in the provider's currency; in dollars where nobody knows what it is worth. */
export async function displayRateOf(stores: ReadParts, caller: Caller): Promise<ExchangeRate> {
  const { defaultCurrency } = await requireProvider(stores, caller)
  const rate = await read(stores, caller, (sql) =>
    findExchangeRate(sql, caller.providerId, defaultCurrency),
  )
  return rate ?? dollarRate
}
