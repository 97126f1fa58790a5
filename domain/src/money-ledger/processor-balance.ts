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
    select
      (select coalesce(sum(amount), 0) from ledger_entries
        where provider_id = ${providerId} and account = 'clearing' and unit = ${currency}
      )::text as clearing,
      -- Of transactions without an entry in clearing too: a payout of less than a minor unit may have none.
      (select coalesce(sum((result->'rest'->>${currency})::numeric), 0) from ledger_transactions
        where provider_id = ${providerId} and result->'rest' ? ${currency}
      )::text as rest`
  return { clearingMinor: BigInt(row.clearing), restUnits: BigInt(row.rest) }
}
