import type { UnitOfWork } from '../unit-of-work/unit-of-work.ts'
import { decideCancel, type CancelDecision } from './decide-cancel.ts'
import { fieldsOfEnd, movePurchase, type PurchaseChange } from './move-purchase.ts'
import { lockPurchase, type Purchase } from './repository.ts'
import type { PurchaseTrigger } from './transitions.ts'

export type CancelOutcome =
  | { readonly kind: 'cancelled'; readonly purchase: Purchase }
  | { readonly kind: 'not-found' }
  | { readonly kind: 'refused'; readonly purchase: Purchase }

/** Cancels the purchase now or at a later date. Cancelling twice changes nothing. */
export async function cancelPurchase(
  work: UnitOfWork,
  reference: string,
  reason: string | null,
): Promise<CancelOutcome> {
  const purchase = await lockPurchase(work.sql, work.providerId, reference)
  if (purchase === undefined) return { kind: 'not-found' }
  const decision = decideCancel(purchase, work.now)
  switch (decision.kind) {
    case 'refuse':
      return { kind: 'refused', purchase }
    case 'already-cancelled':
      return { kind: 'cancelled', purchase }
    case 'end-now':
    case 'schedule': {
      const { trigger, change } = moveOfCancel(decision, work.now, reason)
      return { kind: 'cancelled', purchase: await movePurchase(work, purchase, trigger, change) }
    }
  }
}

/** Returns the transition of a purchase that is cancelled, and the fields that it changes. */
export function moveOfCancel(
  decision: Extract<CancelDecision, { kind: 'end-now' | 'schedule' }>,
  now: Date,
  reason: string | null,
): { readonly trigger: PurchaseTrigger; readonly change: PurchaseChange } {
  const cancelled = { cancelledAt: now, cancellationReason: reason }
  if (decision.kind === 'end-now') {
    return { trigger: 'cancelled', change: { ...fieldsOfEnd(now), ...cancelled } }
  }
  const { endDate, renewsAt } = decision
  // A purchase cancelled too late for its notice renews until its end date, see `renewalAfter`.
  const autoRenew = renewsAt !== null
  const change = { ...cancelled, endDate, autoRenew, nextBillingDate: renewsAt }
  return { trigger: 'cancellation-scheduled', change }
}
