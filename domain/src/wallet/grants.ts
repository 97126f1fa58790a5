import type { Queryable } from '@tollgate/platform/database/database'

/** Credits that were put in at once. 10^-6 credits. */
export type CreditGrant = {
  /** Reference of the transaction that put them in. */
  readonly reference: string
  readonly remainingMicros: bigint
  /** The smallest is used first. */
  readonly priority: number
  readonly expiresAt: Date | null
  readonly createdAt: Date
}

export type Burn = { readonly grantRef: string; readonly micros: bigint }

/**
 * From which grants an amount is taken: by priority, then what expires first, then the oldest. Throws where they hold
 * less.
 */
export function allocateBurn(grants: readonly CreditGrant[], micros: bigint): Burn[] {
  const burns: Burn[] = []
  let left = micros
  for (const grant of grants.toSorted(burnOrder)) {
    if (left === 0n) break
    const taken = grant.remainingMicros < left ? grant.remainingMicros : left
    if (taken > 0n) burns.push({ grantRef: grant.reference, micros: taken })
    left -= taken
  }
  if (left > 0n) throw new Error(`grants hold ${left} millionths of a credit less than were used`)
  return burns
}

function burnOrder(one: CreditGrant, other: CreditGrant): number {
  return (
    one.priority - other.priority ||
    compare(expiryMs(one), expiryMs(other)) ||
    one.createdAt.getTime() - other.createdAt.getTime() ||
    compare(one.reference, other.reference)
  )
}

function expiryMs({ expiresAt }: CreditGrant): number {
  return expiresAt?.getTime() ?? Infinity
}

function compare<Value extends number | string>(one: Value, other: Value): number {
  if (one === other) return 0
  return one < other ? -1 : 1
}

export async function insertGrant(
  sql: Queryable,
  providerId: string,
  customerRef: string,
  { reference, remainingMicros, priority, expiresAt, createdAt }: CreditGrant,
): Promise<void> {
  const micros = remainingMicros.toString()
  await sql`
    insert into credit_grants
      (provider_id, transaction_ref, customer_ref, granted_micros, remaining_micros, priority,
       expires_at, created_at)
    values (${providerId}, ${reference}, ${customerRef}, ${micros}, ${micros}, ${priority},
      ${expiresAt}, ${createdAt})`
}

/** Those that something is left of. The wallet's lock orders who changes them. */
export async function listGrantsLeft(
  sql: Queryable,
  providerId: string,
  customerRef: string,
): Promise<CreditGrant[]> {
  const rows = await sql<
    {
      transaction_ref: string
      remaining_micros: string
      priority: number
      expires_at: Date | null
      created_at: Date
    }[]
  >`
    select transaction_ref, remaining_micros, priority, expires_at, created_at from credit_grants
    where provider_id = ${providerId} and customer_ref = ${customerRef} and remaining_micros > 0`
  return rows.map((row) => ({
    reference: row.transaction_ref,
    remainingMicros: BigInt(row.remaining_micros),
    priority: row.priority,
    expiresAt: row.expires_at,
    createdAt: row.created_at,
  }))
}

/** Takes them out of their grants, and keeps which posting did. */
export async function recordBurns(
  sql: Queryable,
  providerId: string,
  transactionRef: string,
  burns: readonly Burn[],
): Promise<void> {
  const grantRefs = burns.map(({ grantRef }) => grantRef)
  const micros = burns.map((burn) => burn.micros.toString())
  await sql`
    update credit_grants set remaining_micros = remaining_micros - burn.micros
    from unnest(${grantRefs}::text[], ${micros}::numeric[]) as burn (grant_ref, micros)
    where provider_id = ${providerId} and transaction_ref = burn.grant_ref`
  await sql`
    insert into credit_burns (provider_id, transaction_ref, grant_ref, micros)
    select ${providerId}, ${transactionRef}, burn.grant_ref, burn.micros
    from unnest(${grantRefs}::text[], ${micros}::numeric[]) as burn (grant_ref, micros)`
}
