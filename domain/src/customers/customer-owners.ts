import type { Queryable } from '@tollgate/platform/database/database'

export type ReferenceHolder = { readonly reference: string; readonly providerId: string }

/**
 * Returns the providers of active customers. `customerRefs` are the customers' own references, which are unique across
 * providers.
 */
export async function listProvidersOfCustomers(
  sql: Queryable,
  customerRefs: readonly string[],
): Promise<ReferenceHolder[]> {
  return await sql<ReferenceHolder[]>`
    select reference, provider_id as "providerId" from customers
    where reference = any(${[...customerRefs]}::text[]) and status = 'active'`
}

/** Returns the given references that currently belong to an active customer of the provider. */
export async function listHeldReferences(
  sql: Queryable,
  providerId: string,
  references: readonly string[],
): Promise<ReferenceHolder[]> {
  return await sql<ReferenceHolder[]>`
    select link.reference, link.provider_id as "providerId" from customer_references link
    join customers on customers.provider_id = link.provider_id
      and customers.reference = link.customer_ref
    where link.provider_id = ${providerId} and link.reference = any(${[...references]}::text[])
      and link.released_at is null and customers.status = 'active'`
}
