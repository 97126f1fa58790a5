import type { Queryable } from '@tollgate/platform/database/database'
import type { CustomerKey } from '../customers/repository.ts'

/**
 * Claims wallets with expired grants that may have credits left, the longest due first, until `grantsMax` grants are claimed. No
 * other process claims them before `nextLookAt`. Credits left then are checked again.
 */
export async function claimExpiringWallets(
  sql: Queryable,
  now: Date,
  nextCheckAt: Date,
  grantsMax: number,
): Promise<{ wallets: CustomerKey[]; grantsTotal: number }> {
  const rows = await sql<{ provider_id: string; customer_ref: string }[]>`
    update credit_grants set expiry_due_at = ${nextCheckAt}
    where (provider_id, transaction_ref) in (
      select provider_id, transaction_ref from credit_grants
      where expiry_due_at <= ${now}
      order by expiry_due_at limit ${grantsMax} for update skip locked
    )
    returning provider_id, customer_ref`
  const wallets = new Map(
    rows.map(({ provider_id: providerId, customer_ref: customerRef }) => {
      return [JSON.stringify([providerId, customerRef]), { providerId, customerRef }]
    }),
  )
  return { wallets: [...wallets.values()], grantsTotal: rows.length }
}

export type DueGrant = {
  readonly grantRef: string
  /** Credits of the grant posted to `breakage` before, 10^-6. */
  readonly expiredMicros: bigint
}

/** Returns the expired grants of a wallet that may have credits left, in the order of expiry. */
export async function listDueGrants(
  sql: Queryable,
  providerId: string,
  customerRef: string,
  now: Date,
): Promise<DueGrant[]> {
  const rows = await sql<{ transaction_ref: string; expired_micros: string }[]>`
    select transaction_ref, expired_micros from credit_grants
    where provider_id = ${providerId} and customer_ref = ${customerRef}
      and expires_at <= ${now} and expiry_due_at is not null
    order by expires_at, transaction_ref`
  return rows.map((row) => {
    return { grantRef: row.transaction_ref, expiredMicros: BigInt(row.expired_micros) }
  })
}

export async function addExpiredMicros(
  sql: Queryable,
  providerId: string,
  grantRef: string,
  micros: bigint,
): Promise<void> {
  await sql`
    update credit_grants set expired_micros = expired_micros + ${micros.toString()}
    where provider_id = ${providerId} and transaction_ref = ${grantRef}`
}

/** Schedules another expiry of the grants that expire, after credits were put back into them. */
export async function rescheduleExpiry(
  sql: Queryable,
  providerId: string,
  grantRefs: readonly string[],
): Promise<void> {
  await sql`
    update credit_grants set expiry_due_at = expires_at
    where provider_id = ${providerId} and transaction_ref in ${sql([...grantRefs])}
      and expires_at is not null`
}

/** Ends the expiry of the wallet's grants that are expired and empty, or of all its grants without `expiredAt`. */
export async function endExpiry(
  sql: Queryable,
  providerId: string,
  customerRef: string,
  expiredAt?: Date,
): Promise<void> {
  const which =
    expiredAt === undefined ? sql`true` : sql`remaining_micros = 0 and expires_at <= ${expiredAt}`
  await sql`
    update credit_grants set expiry_due_at = null
    where provider_id = ${providerId} and customer_ref = ${customerRef}
      and expiry_due_at is not null and ${which}`
}

/**
 * Returns false if the customer was deleted. Locks the row like the foreign keys of the posting lock it, so customers are locked
 * before their wallets.
 */
export async function lockActiveCustomer(
  sql: Queryable,
  providerId: string,
  customerRef: string,
): Promise<boolean> {
  const rows = await sql`
    select from customers
    where provider_id = ${providerId} and reference = ${customerRef} and status = 'active'
    for key share`
  return rows.length > 0
}
