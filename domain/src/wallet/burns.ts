import type { Queryable } from '@tollgate/platform/database/database'
import type { Burn } from './burn-order.ts'

/** Returns how much the postings with these keys took from which grants, one entry per grant. */
export async function listBurnsOf(
  sql: Queryable,
  providerId: string,
  transactionKeys: readonly string[],
): Promise<Burn[]> {
  const rows = await sql<{ grant_ref: string; micros: string }[]>`
    select grant_ref, sum(micros)::text as micros from credit_burns
    where provider_id = ${providerId} and transaction_ref in (
      select reference from ledger_transactions
      where provider_id = ${providerId} and transaction_key in ${sql([...transactionKeys])})
    group by grant_ref`
  return rows.map((row) => ({ grantRef: row.grant_ref, micros: BigInt(row.micros) }))
}

/** Stores how much a posting took from which grants. */
export async function insertBurns(
  sql: Queryable,
  providerId: string,
  transactionRef: string,
  burns: readonly Burn[],
): Promise<void> {
  const grantRefs = burns.map(({ grantRef }) => grantRef)
  const micros = burns.map((burn) => burn.micros.toString())
  await sql`
    insert into credit_burns (provider_id, transaction_ref, grant_ref, micros)
    select ${providerId}, ${transactionRef}, burn.grant_ref, burn.micros
    from unnest(${grantRefs}::text[], ${micros}::numeric[]) as burn (grant_ref, micros)`
}
