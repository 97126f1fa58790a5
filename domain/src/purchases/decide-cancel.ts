import { periodAt } from '../periods/periods.ts'
import { cycleOf, isLapsed } from './access.ts'
import { noticedEnd } from './notice.ts'
import type { Purchase } from './repository.ts'
import { canMove, isEnding } from './transitions.ts'

export type CancelDecision =
  /**
   * Access goes on until then. `renewsAt`: the notice came too late for the end of the period that is paid, so the next one
   * begins then, and is charged; null: nothing more is charged beforehand.
   */
  | { readonly kind: 'schedule'; readonly endDate: Date; readonly renewsAt: Date | null }
  | { readonly kind: 'end-now' }
  /** Asked for before. */
  | { readonly kind: 'done' }
  | { readonly kind: 'refuse' }

/** What renews ends with what is paid; everything else ends at once. */
export function decideCancel(purchase: Purchase, now: Date): CancelDecision {
  if (purchase.status === 'cancelled' || isEnding(purchase)) return { kind: 'done' }
  // A top-up is money that was paid, not something that runs.
  if (purchase.planRef === null || isLapsed(purchase, now)) return { kind: 'refuse' }
  if (canMove(purchase, 'cancellation-scheduled') && purchase.isRecurring) {
    const { nextBillingDate: renewsAt } = purchase
    const noticed = noticedEnd(purchase, now)
    if (noticed !== undefined && renewsAt !== null && noticed > renewsAt) {
      return { kind: 'schedule', endDate: noticed, renewsAt }
    }
    const endDate = paidUntil(purchase, now)
    if (endDate !== undefined && endDate > now) return { kind: 'schedule', endDate, renewsAt: null }
  }
  return canMove(purchase, 'cancelled') ? { kind: 'end-now' } : { kind: 'refuse' }
}

/**
 * The end of the last period that is paid, which lies behind us while a renewal is due; of a trial its end, whatever
 * would have come after it. What costs nothing is paid for the period that runs. Undefined without periods.
 */
function paidUntil(purchase: Purchase, now: Date): Date | undefined {
  const { status, endDate, nextBillingDate } = purchase
  if (status === 'trialing') return nextBillingDate ?? undefined
  if (endDate !== null) return endDate
  const cycle = cycleOf(purchase)
  if (cycle === undefined) return undefined
  if (isCharged(purchase) && nextBillingDate !== null) return nextBillingDate
  return periodAt(cycle, now).end
}

/** What began with a trial was sold for nothing, and costs what its plan says. */
function isCharged({ amountMinor, planSnapshot }: Purchase): boolean {
  if (amountMinor > 0 || planSnapshot === null) return amountMinor > 0
  return planSnapshot.priceMinor > 0 || (planSnapshot.basePriceMinor ?? 0) > 0
}
