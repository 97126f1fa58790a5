import type { UnitOfWork } from '../unit-of-work/unit-of-work.ts'
import { decideCancel } from './decide-cancel.ts'
import { endNow, movePurchase } from './move-purchase.ts'
import { lockPurchase, type Purchase } from './repository.ts'

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
  const cancelled = { cancelledAt: work.now, cancellationReason: reason }
  switch (decision.kind) {
    case 'refuse':
      return { kind: 'refused', purchase }
    case 'already-cancelled':
      return { kind: 'cancelled', purchase }
    case 'end-now':
      return { kind: 'cancelled', purchase: await endNow(work, purchase, 'cancelled', cancelled) }
    case 'schedule': {
      const { endDate, renewsAt } = decision
      // A purchase cancelled too late for its notice renews until its end date, see `renewalAfter`.
      const autoRenew = renewsAt !== null
      const ending = { ...cancelled, endDate, autoRenew, nextBillingDate: renewsAt }
      const moved = await movePurchase(work, purchase, 'cancellation-scheduled', ending)
      return { kind: 'cancelled', purchase: moved }
    }
  }
}
