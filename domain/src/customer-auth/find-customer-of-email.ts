import type { Queryable } from '@tollgate/platform/database/database'
import {
  findCustomerByEmail,
  findCustomersByAddressRef,
  generatedEmailEnd,
  lockCustomer,
  type Customer,
} from '../customers/repository.ts'

/**
 * Returns the customer who owns a verified email address: the customer with this email. If there is none, returns the
 * only customer whose current external reference is the address and whose own email is a generated one, because then no
 * other address contradicts it. External references may be user names that people choose, so they never identify a
 * customer who has a real email address.
 */
export async function findCustomerOfEmail(
  sql: Queryable,
  providerId: string,
  email: string,
): Promise<Customer | undefined> {
  const byEmail = await findCustomerByEmail(sql, providerId, email)
  if (byEmail !== undefined) return byEmail
  const named = await findCustomersByAddressRef(sql, providerId, email)
  // References are case-sensitive and email addresses are not. If 2 customers match, the owner is ambiguous.
  return named.length === 1 ? named[0] : undefined
}

/**
 * Like `findCustomerOfEmail`, but locks the customer's row. Returns `gone` if the customer was deleted or got another
 * address while this waited for the lock.
 */
export async function lockCustomerOfEmail(
  sql: Queryable,
  providerId: string,
  email: string,
): Promise<Customer | 'gone' | undefined> {
  const found = await findCustomerOfEmail(sql, providerId, email)
  if (found === undefined) return undefined
  await lockCustomer(sql, providerId, found.reference)
  const owner = await findCustomerOfEmail(sql, providerId, email)
  return owner?.reference === found.reference ? owner : 'gone'
}

/**
 * Returns the address that signs the customer in, in lower case, by the rule of `findCustomerOfEmail`. An external
 * reference may not be a valid address.
 */
export function signInAddressOf({ email, externalRef }: Customer): string | undefined {
  const isGenerated = email.toLowerCase().endsWith(generatedEmailEnd)
  return (isGenerated ? externalRef : email)?.toLowerCase()
}
