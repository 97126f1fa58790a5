import type { Queryable } from '@tollgate/platform/database/database'

/** Balance at the processor: the ledger's amount plus the finer rest that its postings recorded. */
export type ProcessorBalance = { readonly clearingMinor: bigint; readonly restUnits: bigint }

/** Reads all postings of a currency that changed the balance at the processor. */
export async function readProcessorBalance(
  sql: Queryable,
  providerId: string,
  currency: string,
): Promise<ProcessorBalance> {
  const [row] = await sql<[{ clearing: string; rest: string }]>`
    with moved as (
      select transaction_ref, sum(amount) filter (where account = 'clearing') as amount
      from ledger_entries
      -- Both accounts, because a payout of less than a minor unit may have no entry in clearing.
      where provider_id = ${providerId} and account in ('clearing', 'bank') and unit = ${currency}
      group by transaction_ref)
    select coalesce(sum(moved.amount), 0)::text as clearing,
      coalesce(sum((posted.result->'rest'->>${currency})::numeric), 0)::text as rest
    from moved
    join ledger_transactions as posted
      on posted.provider_id = ${providerId} and posted.reference = moved.transaction_ref`
  return { clearingMinor: BigInt(row.clearing), restUnits: BigInt(row.rest) }
}
