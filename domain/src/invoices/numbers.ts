import type { Fragment } from 'postgres'
import type { Queryable } from '@tollgate/platform/database/database'

export type NumberedDocument = 'invoice' | 'credit_note'

/**
 * The provider's next number. The row stays locked until the caller's transaction ends, so whoever comes next waits, and
 * a transaction that fails gives its number back: no gaps, at the price of one document at a time for each provider. Take
 * it as late as possible.
 */
export async function takeNumber(
  sql: Queryable,
  providerId: string,
  kind: NumberedDocument,
): Promise<bigint> {
  const [row] = await sql<{ last_number: bigint }[]>`${nextNumber(sql, providerId, kind)}`
  return row!.last_number
}

/** A statement that takes it, to stand in another one. */
export function nextNumber(sql: Queryable, providerId: string, kind: NumberedDocument): Fragment {
  return sql`
    insert into document_numbers (provider_id, kind, last_number)
    values (${providerId}, ${kind}, 1)
    on conflict (provider_id, kind) do update set last_number = document_numbers.last_number + 1
    returning last_number`
}
