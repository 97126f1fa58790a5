import type { Queryable } from '@tollgate/platform/database/database'
import {
  findCustomerByEmail,
  findCustomersByAddressRef,
  generatedEmailEnd,
  lockCustomer,
  type Customer,
} from '../customers/repository.ts'

/**
 * Returns the customer who owns a verified email address. That is the customer whose email it is. If there is none, it is the one
 * customer whose external reference of today is the address and whose own email is a generated one, so that no address speaks
 * against it. References may be user names, which people choose, so they never lead to a customer with an address of its own.
 */
export async function findCustomerOfEmail(
  sql: Queryable,
  providerId: string,
  email: string,
): Promise<Customer | undefined> {
  const byEmail = await findCustomerByEmail(sql, providerId, email)
  if (byEmail !== undefined) return byEmail
  const named = await findCustomersByAddressRef(sql, providerId, email)
  // References differ by case, and addresses do not: of two, nobody can say whose it is.
  return named.length === 1 ? named[0] : undefined
}

/** Returns the same customer with its row locked. `gone`: it was deleted, or has another address, while this waited for the lock. */
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

/** Returns the address that signs the customer in, in lower case, as `findCustomerOfEmail` reads it; it may be no address at all. */
export function signInAddressOf({ email, externalRef }: Customer): string | undefined {
  const isGenerated = email.toLowerCase().endsWith(generatedEmailEnd)
  return (isGenerated ? externalRef : email)?.toLowerCase()
}
