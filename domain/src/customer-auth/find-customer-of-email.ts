import type { Queryable } from '@tollgate/platform/database/database'
import { findCustomer, findCustomerByEmail, type Customer } from '../customers/repository.ts'

/**
 * Returns the customer who owns a verified email address: it is the customer's own, or the provider named the customer so. The
 * customer's own address wins: references may be user names, which people choose.
 */
export async function findCustomerOfEmail(
  sql: Queryable,
  providerId: string,
  email: string,
): Promise<Customer | undefined> {
  return (
    (await findCustomerByEmail(sql, providerId, email)) ??
    (await findCustomer(sql, providerId, email))
  )
}
