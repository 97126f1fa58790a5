import type { Queryable } from '@tollgate/platform/database/database'
import { lockCustomer } from '../customers/repository.ts'
import type { UnitOfWork } from '../unit-of-work/unit-of-work.ts'
import {
  selectKeyedCheckout,
  openCheckoutSession,
  type CheckoutKey,
  type CheckoutRequest,
  type CheckoutSession,
} from './checkout-sessions.ts'
import type { HostedParts } from './hosted-parts.ts'

export type KeyedCheckoutOutcome =
  | { readonly kind: 'opened'; readonly session: CheckoutSession }
  /** The idempotency key was used with another request. */
  | { readonly kind: 'key-reused' }

/** Returns the outcome of an earlier request with the same key, or undefined. */
export async function findCheckoutByKey(
  sql: Queryable,
  providerId: string,
  key: CheckoutKey,
): Promise<KeyedCheckoutOutcome | undefined> {
  const keyed = await selectKeyedCheckout(sql, providerId, key.text)
  if (keyed === undefined) return undefined
  if (keyed.inputSha256 !== key.inputSha256) return { kind: 'key-reused' }
  return { kind: 'opened', session: keyed.session }
}

/**
 * Opens a checkout unless one was opened with the key. Only one of concurrent requests opens it: those for the same customer wait
 * for its lock, and those for another customer break the unique key and are retried.
 */
export async function openCheckoutOnce(
  work: UnitOfWork,
  hosted: HostedParts,
  request: CheckoutRequest,
  key: CheckoutKey,
): Promise<KeyedCheckoutOutcome> {
  const { sql, providerId } = work
  await lockCustomer(sql, providerId, request.customerRef)
  const earlier = await findCheckoutByKey(sql, providerId, key)
  if (earlier !== undefined) return earlier
  return { kind: 'opened', session: await openCheckoutSession(work, hosted, { ...request, key }) }
}
