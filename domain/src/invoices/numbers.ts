import type { Fragment } from 'postgres'
import type { Queryable } from '@tollgate/platform/database/database'

export type NumberedDocument = 'invoice' | 'credit_note'

/**
 * Takes the provider's next document number. The row stays locked until the caller's transaction ends, so the next
 * document waits, and a failed transaction returns its number. This keeps the numbers without gaps, but issues only one
 * document at a time per provider. Take the number as late as possible.
 */
export async function assignNumber(
  sql: Queryable,
  providerId: string,
  kind: NumberedDocument,
): Promise<bigint> {
  const [row] = await sql<{ last_number: bigint }[]>`${nextNumberStatement(sql, providerId, kind)}`
  return row!.last_number
}

/** Returns the SQL statement that takes the next number, for use inside another statement. */
export function nextNumberStatement(
  sql: Queryable,
  providerId: string,
  kind: NumberedDocument,
): Fragment {
  return sql`
    insert into document_numbers (provider_id, kind, last_number)
    values (${providerId}, ${kind}, 1)
    on conflict (provider_id, kind) do update set last_number = document_numbers.last_number + 1
    returning last_number`
}
