import type { Queryable } from '@tollgate/platform/database/database'
import type { Money } from '../money-ledger/postings.ts'

/** Credits that were added at once. Amounts are 10^-6 credits. */
export type CreditGrant = {
  /** Reference of the transaction that added the credits. */
  readonly reference: string
  readonly grantedMicros: bigint
  readonly remainingMicros: bigint
  /** Part of `remainingMicros` used by usage that is not posted yet, as of the last update. */
  readonly inFlightMicros: bigint
  /** The grant with the smallest number is used first. */
  readonly priority: number
  readonly expiresAt: Date | null
  /** Price of the whole grant without tax; null if it was free or the price is unknown. */
  readonly paid: Money | null
  readonly createdAt: Date
}

/** A new grant, from which nothing was taken yet. */
export type NewGrant = Omit<CreditGrant, 'inFlightMicros' | 'grantedMicros'>

export async function insertGrant(
  sql: Queryable,
  providerId: string,
  customerRef: string,
  { reference, remainingMicros, priority, expiresAt, paid, createdAt }: NewGrant,
): Promise<void> {
  const micros = remainingMicros.toString()
  await sql`
    insert into credit_grants
      (provider_id, transaction_ref, customer_ref, granted_micros, remaining_micros, priority,
       expires_at, expiry_due_at, paid, paid_currency, created_at)
    values (${providerId}, ${reference}, ${customerRef}, ${micros}, ${micros}, ${priority},
      ${expiresAt}, ${expiresAt}, ${paid?.amountMinor.toString() ?? null},
      ${paid?.currency ?? null}, ${createdAt})`
}

/** Returns the grants that have credits left. The caller holds the lock of the wallet, which orders changes. */
export async function listOpenGrants(
  sql: Queryable,
  providerId: string,
  customerRef: string,
): Promise<CreditGrant[]> {
  const rows = await sql<GrantRow[]>`
    select * from credit_grants
    where provider_id = ${providerId} and customer_ref = ${customerRef} and remaining_micros > 0`
  return rows.map(fromRow)
}

/**
 * Returns references of the customer's grants with credits left that were added up to that ledger transaction, and `ownRef`
 * whenever that grant was added.
 */
export async function listOpenGrantRefsUpTo(
  sql: Queryable,
  providerId: string,
  which: {
    readonly customerRef: string
    readonly upToId: bigint
    readonly ownRef: string | undefined
  },
): Promise<Set<string>> {
  const rows = await sql<{ transaction_ref: string }[]>`
    select open.transaction_ref from credit_grants as open
    join ledger_transactions as added on added.provider_id = open.provider_id
      and added.reference = open.transaction_ref
    where open.provider_id = ${providerId} and open.customer_ref = ${which.customerRef}
      and open.remaining_micros > 0
      and (added.id <= ${which.upToId.toString()} or added.reference = ${which.ownRef ?? null})`
  return new Set(rows.map(({ transaction_ref: reference }) => reference))
}

/** Returns the named grants, with or without credits left. */
export async function listGrants(
  sql: Queryable,
  providerId: string,
  references: readonly string[],
): Promise<CreditGrant[]> {
  const rows = await sql<GrantRow[]>`
    select * from credit_grants
    where provider_id = ${providerId} and transaction_ref in ${sql([...references])}`
  return rows.map(fromRow)
}

type GrantRow = {
  transaction_ref: string
  granted_micros: string
  remaining_micros: string
  in_flight_micros: string
  priority: number
  expires_at: Date | null
  paid: string | null
  paid_currency: string | null
  created_at: Date
}

function fromRow(row: GrantRow): CreditGrant {
  const { paid, paid_currency: currency } = row
  return {
    reference: row.transaction_ref,
    grantedMicros: BigInt(row.granted_micros),
    remainingMicros: BigInt(row.remaining_micros),
    inFlightMicros: BigInt(row.in_flight_micros),
    priority: row.priority,
    expiresAt: row.expires_at,
    paid: paid === null || currency === null ? null : { currency, amountMinor: BigInt(paid) },
    createdAt: row.created_at,
  }
}

/** Stores the grants of `after` that differ from `before`. */
export async function updateGrants(
  sql: Queryable,
  providerId: string,
  before: readonly CreditGrant[],
  after: readonly CreditGrant[],
): Promise<void> {
  const were = new Map(before.map((grant) => [grant.reference, grant]))
  const changed = after.filter(({ reference, remainingMicros, inFlightMicros }) => {
    const was = were.get(reference)!
    return was.remainingMicros !== remainingMicros || was.inFlightMicros !== inFlightMicros
  })
  if (changed.length === 0) return
  const references = changed.map(({ reference }) => reference)
  const remaining = changed.map(({ remainingMicros }) => remainingMicros.toString())
  const inFlight = changed.map(({ inFlightMicros }) => inFlightMicros.toString())
  await sql`
    update credit_grants set remaining_micros = changed.remaining,
      in_flight_micros = changed.in_flight
    from unnest(${references}::text[], ${remaining}::numeric[], ${inFlight}::numeric[])
      as changed (reference, remaining, in_flight)
    where provider_id = ${providerId} and transaction_ref = changed.reference`
}
