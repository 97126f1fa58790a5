import { hasStatusWithAccess, isLapsed } from './access.ts'
import type { Purchase } from './repository.ts'
import { isEnding } from './transitions.ts'

/** How a purchase ends because another one begins, or because its end date has passed. */
export type EndOfPrevious = {
  readonly trigger: 'cancelled' | 'expired'
  readonly endedAt: Date
  /** Whether it gave access until now, so that the new purchase replaces it. */
  readonly isReplaced: boolean
}

/** Returns the end of a purchase whose end date has passed. Undefined for other purchases. */
export function decideLapse(purchase: Purchase, now: Date): EndOfPrevious | undefined {
  const { endDate } = purchase
  if (endDate === null || !isLapsed(purchase, now)) return undefined
  const trigger = isEnding(purchase) ? 'cancelled' : 'expired'
  return { trigger, endedAt: endDate, isReplaced: false }
}

/**
 * Decides how the customer's previous purchase of a product ends when another one begins, because a customer has at most one open
 * purchase of a product. A purchase that was suspended for nonpayment ends as well, so that it cannot become active beside the new
 * one. Undefined if it has ended already.
 */
export function decideEndOfPrevious(previous: Purchase, now: Date): EndOfPrevious | undefined {
  const lapse = decideLapse(previous, now)
  if (lapse !== undefined) return lapse
  const ended = { trigger: 'expired', endedAt: now } as const
  if (hasStatusWithAccess(previous)) return { ...ended, isReplaced: true }
  return previous.status === 'suspended' ? { ...ended, isReplaced: false } : undefined
}
