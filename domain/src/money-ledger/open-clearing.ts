import type { Queryable } from '@tollgate/platform/database/database'

/**
 * Returns currencies in which money has been at the processor since before that instant, not paid out and not used by refunds or
 * fees, or has been missing there since before it. The oldest money counts as paid out first.
 */
export async function listOpenClearing(
  sql: Queryable,
  providerId: string,
  since: Date,
): Promise<string[]> {
  const rows = await sql<{ currency: string }[]>`
    select currency from (
      select unit as currency, sum(amount) as at_processor,
        coalesce(sum(amount) filter (where created_at >= ${since} and amount > 0), 0) as came,
        coalesce(sum(amount) filter (where created_at >= ${since} and amount < 0), 0) as left_since
      from ledger_entries as entry
      join ledger_transactions as posted
        on posted.provider_id = entry.provider_id and posted.reference = entry.transaction_ref
      where entry.provider_id = ${providerId} and account = 'clearing'
      group by unit
    ) as cleared
    where at_processor > came or at_processor < left_since
    order by currency`
  return rows.map(({ currency }) => currency)
}
