import type { Queryable } from '@tollgate/platform/database/database'
import type { CustomerName } from '../customers/repository.ts'

/**
 * Takes on wallets with grants that have expired and may have something left, those that wait longest first, by so many
 * grants. Nobody else takes these on before `nextLookAt`; what is left of them then is looked at again.
 */
export async function claimExpiringWallets(
  sql: Queryable,
  now: Date,
  nextLookAt: Date,
  grantsMax: number,
): Promise<{ wallets: CustomerName[]; grantsTotal: number }> {
  const rows = await sql<{ provider_id: string; customer_ref: string }[]>`
    update credit_grants set expiry_due_at = ${nextLookAt}
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
  /** What of it went to `breakage` so far, 10^-6 credits. */
  readonly expiredMicros: bigint
}

/** Of one wallet: those that have expired, in that order, and may have something left. */
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

/** Something was put back into them: those that expire are looked at again. */
export async function renewExpiry(
  sql: Queryable,
  providerId: string,
  grantRefs: readonly string[],
): Promise<void> {
  await sql`
    update credit_grants set expiry_due_at = expires_at
    where provider_id = ${providerId} and transaction_ref in ${sql([...grantRefs])}
      and expires_at is not null`
}

/** Nothing more of the wallet's grants can expire, as far as they have and nothing is left; all of them without `expiredAt`. */
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

/** Returns false if the customer was deleted. Locks it as the posting's keys will: customers come before their wallets. */
export async function holdCustomer(
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
