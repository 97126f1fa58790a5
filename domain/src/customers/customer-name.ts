import type { Fragment } from 'postgres'
import type { Queryable } from '@tollgate/platform/database/database'

/** Names a customer by its own or a linked reference, or by its email address. */
export type CustomerName = { readonly anyReference: string } | { readonly email: string }

/**
 * Selects the customer's own reference. A statement about a customer uses it in place of the reference, so that it can be sent
 * before another statement has found the customer.
 */
export function selectCustomerRef(
  sql: Queryable,
  providerId: string,
  name: CustomerName,
): Fragment {
  return 'email' in name
    ? sql`
      select reference from customers
      where provider_id = ${providerId} and email_key = lower(${name.email}) and status = 'active'`
    : sql`
      select customer_ref from customer_references
      where provider_id = ${providerId} and reference = ${name.anyReference} and released_at is null`
}
