import type { Customer } from '@tollgate/domain/customers/repository'

/** Returns the claims about a customer. The scopes of a token decide which claims it contains. */
export function claimsOf({ reference, email, name }: Customer) {
  return { sub: reference, email, ...(name !== null && { name }) }
}
