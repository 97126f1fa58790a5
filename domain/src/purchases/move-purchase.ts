import { endPack } from '../packs/repository.ts'
import { endCharges } from '../payments/end-charges.ts'
import { queuePublication, recordEvent, type UnitOfWork } from '../unit-of-work/unit-of-work.ts'
import { pastDueObject, purchaseObject, suspendedObject } from './purchase-event.ts'
import { updatePurchase, type Purchase } from './repository.ts'
import { suspensionAfter } from './suspension.ts'
import { canMove, purchaseTransitions, type PurchaseTrigger } from './transitions.ts'
import type { Period } from '../periods/periods.ts'
import { renewalAfter } from './decide-renewal.ts'

/** Fields that a transition changes besides the status. */
export type PurchaseChange = Partial<
  Pick<
    Purchase,
    | 'amountMinor'
    | 'originalAmountMinor'
    | 'exchangeRate'
    | 'autoRenew'
    | 'endDate'
    | 'nextBillingDate'
    | 'paidAt'
    | 'cancelledAt'
    | 'cancellationReason'
    | 'endedAt'
    | 'retryCount'
    | 'nextRetryAt'
    | 'nextUsageBillAt'
  >
>

/** After these transitions no further period begins. */
const endsCharges: ReadonlySet<PurchaseTrigger> = new Set([
  'cancellation-scheduled',
  'cancelled',
  'expired',
  'refunded',
])

/**
 * Moves a purchase whose row the caller has locked: stores the change, emits its event and queues the publication of its access.
 * Throws if the transition is not allowed, so the caller checks with `canMove` first.
 */
export async function movePurchase(
  work: UnitOfWork,
  purchase: Purchase,
  trigger: PurchaseTrigger,
  change: PurchaseChange = {},
): Promise<Purchase> {
  const moved = movedPurchase(purchase, trigger, change, work.now)
  // The statements are sent together, because each write to a socket costs more than its statement.
  await Promise.all([
    updatePurchase(work.sql, work.providerId, moved),
    recordMove(work, purchase, moved, trigger),
    queuePublication(work, 'customer', purchase.customerRef),
  ])
  // A purchase cancelled too late for its notice still renews and owes the next period.
  const isOver = trigger !== 'cancellation-scheduled' || moved.nextBillingDate === null
  if (endsCharges.has(trigger) && isOver) await endCharges(work, purchase.reference)
  // Refunded units are claimed by the refund, and an expired pack has ended by its own date.
  if (purchase.isPack && trigger === 'cancelled') {
    await endPack(work.sql, work.providerId, purchase.reference, work.now)
  }
  return moved
}

function recordMove(
  work: UnitOfWork,
  before: Purchase,
  moved: Purchase,
  trigger: PurchaseTrigger,
): Promise<void> {
  const { event } = purchaseTransitions[trigger]
  switch (event) {
    case 'purchase.past_due':
      return recordEvent(work, event, pastDueObject(moved), { status: before.status })
    case 'purchase.suspended':
      return recordEvent(work, event, suspendedObject(moved, trigger))
    default:
      return recordEvent(work, event, purchaseObject(moved))
  }
}

/** Returns the purchase after the transition. Throws if the transition is not allowed. */
export function movedPurchase(
  purchase: Purchase,
  trigger: PurchaseTrigger,
  change: PurchaseChange,
  now: Date,
): Purchase {
  if (!canMove(purchase, trigger)) {
    throw new Error(`purchase ${purchase.reference} is ${purchase.status}: it cannot be ${trigger}`)
  }
  const { to = purchase.status } = purchaseTransitions[trigger]
  const suspension = suspensionAfter(purchase, to, now)
  return { ...purchase, ...change, ...suspension, status: to, updatedAt: now }
}

/** Ends the purchase now. Access stops with the publication of this transaction. */
export function endNow(
  work: UnitOfWork,
  purchase: Purchase,
  trigger: 'cancelled' | 'expired',
  change: PurchaseChange = {},
): Promise<Purchase> {
  return movePurchase(work, purchase, trigger, { ...fieldsOfEnd(work.now), ...change })
}

/** Returns the fields that change when a purchase ends at that time. */
export function fieldsOfEnd(endedAt: Date): PurchaseChange {
  return { autoRenew: false, nextBillingDate: null, nextRetryAt: null, endedAt }
}

/** Begins the period, after all that was due in advance is paid. The caller has locked the row. */
export function renewPurchase(
  work: UnitOfWork,
  purchase: Purchase,
  period: Period,
): Promise<Purchase> {
  return movePurchase(work, purchase, 'renewed', renewalAfter(purchase, period.end))
}
