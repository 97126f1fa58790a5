import type { Fragment } from 'postgres'
import type { Queryable } from '@tollgate/platform/database/database'
import { numberFromMicros } from '@tollgate/schemas/quantity'
import { unixSeconds } from '../periods/periods.ts'
import { milliseconds } from '../postgres/milliseconds.ts'
import { recordEvent, type UnitOfWork } from '../unit-of-work/unit-of-work.ts'
import { lockActiveCustomer } from './expiring-grants.ts'
import { lockWallet } from './repository.ts'

/**
 * Emits `customer.credit.expiring` once for each time at which credits of the wallet expire soon. Usage that is not posted yet still
 * counts as left, so the announced number may be too high by a few seconds of usage.
 */
export async function announceExpiry(
  work: UnitOfWork,
  customerRef: string,
  aheadMs: number,
): Promise<void> {
  const { sql, providerId, now } = work
  const isActive = await lockActiveCustomer(sql, providerId, customerRef)
  await lockWallet(sql, providerId, customerRef, now)
  const grants = await sql<{ expires_at: Date; remaining_micros: string }[]>`
    update credit_grants set is_expiry_announced = true
    where provider_id = ${providerId} and customer_ref = ${customerRef}
      and ${isToAnnounce(sql, now, aheadMs)}
    returning expires_at, remaining_micros`
  if (!isActive) return
  const microsByTime = new Map<number, bigint>()
  for (const { expires_at: expiresAt, remaining_micros: micros } of grants) {
    const at = unixSeconds(expiresAt)
    microsByTime.set(at, (microsByTime.get(at) ?? 0n) + BigInt(micros))
  }
  for (const [expiresAt, micros] of [...microsByTime].toSorted(([one], [other]) => one - other)) {
    const credits = numberFromMicros(micros)
    const announced = { customerId: customerRef, providerId, credits, expiresAt }
    await recordEvent(work, 'customer.credit.expiring', announced)
  }
}

/** Returns the condition of grants that expire within `aheadMs` and were not announced. */
export function isToAnnounce(sql: Queryable, now: Date, aheadMs: number): Fragment {
  return sql`
    ${isUnannounced(sql, aheadMs)}
    and expires_at > ${now} and expires_at <= ${new Date(now.getTime() + aheadMs)}`
}

/**
 * Returns the condition of grants whose expiry is announced at some time. A grant that was made later than `aheadMs` before its
 * expiry is never announced, because its customer has just been told of it. Has the conditions of the partial index, so that the
 * planner uses it.
 */
export function isUnannounced(sql: Queryable, aheadMs: number): Fragment {
  return sql`
    expires_at is not null and remaining_micros > 0 and not is_expiry_announced
    and created_at < expires_at - ${milliseconds(sql, aheadMs)}`
}
