import type { Queryable } from '@tollgate/platform/database/database'
import type { Burn } from './burn-order.ts'

/** Keeps which posting took how much of which grants. */
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
