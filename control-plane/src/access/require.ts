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

/*
 * Functions that read the object that a request names. If the object does not exist for the caller, they refuse the request with
 * the same text for every caller.
 */

/** Finds a customer by its own reference or by any reference that is or was linked to it. */
export function requireCustomer(
  stores: ReadParts,
  caller: Caller,
  anyReference: string,
): Promise<Customer> {
  return read(stores, caller, (sql) => getCustomer(sql, caller, anyReference))
}

/** Like `requireCustomer`, inside a transaction that reads more rows. */
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

/** Returns the provider of a credential. The provider comes from the credential alone; no request names one. */
export async function requireProvider(
  stores: ReadParts,
  { providerId }: Pick<Caller, 'providerId'>,
): Promise<Provider> {
  const provider = await readControl(stores, { providerId }, (sql) => findProvider(sql, providerId))
  if (provider === undefined) throw new Error(`the provider ${providerId} of a key is gone`)
  return provider
}

/**
 * Returns the exchange rate in which balances are shown: the rate of the provider's currency, or the dollar if that currency has no
 * rate.
 */
export async function displayRateOf(stores: ReadParts, caller: Caller): Promise<ExchangeRate> {
  const { defaultCurrency } = await requireProvider(stores, caller)
  const rate = await read(stores, caller, (sql) =>
    findExchangeRate(sql, caller.providerId, defaultCurrency),
  )
  return rate ?? dollarRate
}
