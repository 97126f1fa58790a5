import type { Purchase } from './repository.ts'
import { isEnding } from './transitions.ts'

export type ReminderDecision =
  | { readonly kind: 'nothing' }
  | { readonly kind: 'remind'; readonly of: 'trial-end' | 'renewal'; readonly date: Date }

/**
 * Whether a date of the purchase is near enough to tell of it. Each is told of once, and none that has passed. Cancelled too
 * late for its notice, a purchase is charged once more, and is told of that.
 */
export function decideReminder(purchase: Purchase, now: Date, aheadMs: number): ReminderDecision {
  const { status, nextBillingDate: date, autoRenew, remindedOf } = purchase
  if (date === null || date <= now || date.getTime() - now.getTime() > aheadMs) {
    return { kind: 'nothing' }
  }
  if (remindedOf?.getTime() === date.getTime()) return { kind: 'nothing' }
  if (status === 'trialing' && !isEnding(purchase)) return { kind: 'remind', of: 'trial-end', date }
  if (status === 'active' && autoRenew) return { kind: 'remind', of: 'renewal', date }
  return { kind: 'nothing' }
}
