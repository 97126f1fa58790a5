import type { Customer } from '@tollgate/domain/customers/repository'

/** What a customer's tokens and user information say of the customer, as far as their scopes go. */
export function claimsOf({ reference, email, name }: Customer) {
  return { sub: reference, email, ...(name !== null && { name }) }
}
