import { lockCustomer } from '../customers/repository.ts'
import type { UnitOfWork } from '../unit-of-work/unit-of-work.ts'
import {
  findCheckoutByKey,
  openCheckoutSession,
  type CheckoutKey,
  type CheckoutRequest,
  type KeyedCheckoutOutcome,
} from './checkout-sessions.ts'
import type { HostedParts } from './hosted-parts.ts'

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
