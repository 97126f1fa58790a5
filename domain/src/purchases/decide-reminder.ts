import type { Purchase } from './repository.ts'
import { isEnding } from './transitions.ts'

export type ReminderDecision =
  | { readonly kind: 'nothing' }
  | { readonly kind: 'remind'; readonly of: 'trial-end' | 'renewal'; readonly date: Date }

/**
 * Decides whether a reminder of the next billing date is due. Each date gets one reminder, and past dates get none. A purchase
 * cancelled too late for its notice is charged once more, so it gets a reminder too.
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
