import type { Queryable } from '@tollgate/platform/database/database'
import type { CustomerKey } from './repository.ts'

export type CustomerAt = CustomerKey & { readonly at: Date }

/** Returns, for each customer, the references that `listCurrentReferences` would have returned at the time `at`. */
export async function listReferencesAt(
  sql: Queryable,
  customers: readonly CustomerAt[],
): Promise<string[][]> {
  const found: string[][] = customers.map(() => [])
  if (customers.length === 0) return found
  const rows = await sql<{ number: bigint; reference: string }[]>`
    select number, reference
    from unnest(
      ${customers.map(({ providerId }) => providerId)}::text[],
      ${customers.map(({ customerRef }) => customerRef)}::text[],
      ${customers.map(({ at }) => at.toISOString())}::text[]
    ) with ordinality as asked (provider_id, customer_ref, at_text, number)
    cross join lateral (select at_text::timestamptz as at) as instant
    join customer_references as link using (provider_id, customer_ref)
    where linked_at <= at
      and (released_at is null or released_at > at or not exists (
        select from customer_references held
        where held.provider_id = link.provider_id and held.reference = link.reference
          and held.linked_at <= at and (held.released_at is null or held.released_at > at)))
    order by linked_at, reference`
  for (const { number, reference } of rows) found[Number(number) - 1]!.push(reference)
  return found
}
