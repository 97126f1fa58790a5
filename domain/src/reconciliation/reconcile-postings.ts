import type { Queryable } from '@tollgate/platform/database/database'
import type { Tally } from './finding.ts'
import type { Scope } from './scope.ts'

type Row = {
  provider_id: string
  reference: string
  amount: bigint
  currency: string
  succeeded_at: Date
  posted: string | null
}

/**
 * Compares what succeeded payments brought with what the ledger says is at the processor of them. Both are written in one
 * transaction, so nothing is ever under way. What was paid before payments were posted is not in the ledger.
 */
export async function reconcilePostings(
  sql: Queryable,
  { from, to, providerId }: Scope,
  findingsMax: number,
  tally: Tally,
): Promise<void> {
  const paid = sql`
    select payment_intents.provider_id, reference, original_amount as amount, currency, succeeded_at
    from payment_intents
    join (
      select provider_id, min(created_at) as began from ledger_transactions
      where kind = 'payment_succeeded' group by provider_id
    ) as postings using (provider_id)
    where status = 'succeeded' and succeeded_at >= greatest(began, ${from}) and succeeded_at < ${to}
      ${providerId === undefined ? sql`` : sql`and payment_intents.provider_id = ${providerId}`}`
  const counts = await sql<{ provider_id: string; count: number }[]>`
    select provider_id, count(*)::int from (${paid}) as paid group by provider_id`
  for (const { provider_id, count } of counts) tally.compared(provider_id, 'posting', count)
  const rows = await sql<Row[]>`
    select paid.*, entries.amount::text as posted from (${paid}) as paid
    left join ledger_transactions as posted on posted.provider_id = paid.provider_id
      and transaction_key = 'payment:' || paid.reference || ':succeeded'
    left join ledger_entries as entries on entries.provider_id = posted.provider_id
      and transaction_ref = posted.reference and account = 'clearing' and unit = paid.currency
    where entries.amount is distinct from paid.amount
    order by succeeded_at, paid.reference limit ${findingsMax}`
  for (const row of rows) {
    tally.found({
      providerId: row.provider_id,
      kind: 'posting',
      difference: row.posted === null ? 'missing_there' : 'differs',
      reference: row.reference,
      ours: `${row.amount} ${row.currency}`,
      theirs: row.posted === null ? null : `${row.posted} ${row.currency}`,
      since: row.succeeded_at,
      isRepaired: false,
    })
  }
}
