import type { EventObject } from '@tollgate/schemas/event-types'
import { numberFromMicros } from '@tollgate/schemas/quantity'
import { unixSeconds, type Period } from '../periods/periods.ts'
import { pricesIn } from '../pricing/plan-prices.ts'
import { scheduledPlanFor } from './decide-renewal.ts'
import { planAfterChange, pricesAt } from './offered-plan.ts'
import type { ChangeToSchedule } from './purchase.ts'
import type { Purchase } from './repository.ts'
import type { PurchaseTrigger } from './transitions.ts'

/** Returns `data.object` of most purchase events, with the new status. */
export function purchaseObject(purchase: Purchase): EventObject<'purchase.created'> {
  return {
    ...identityOf(purchase),
    amount: purchase.originalAmountMinor ?? purchase.amountMinor,
    currency: purchase.currency.toLowerCase(),
    billingCycle: purchase.billingCycle,
    isRecurring: purchase.isRecurring,
    created: unixSeconds(purchase.createdAt),
  }
}

/** Returns the fields that the objects of all purchase events begin with. */
function identityOf(purchase: Purchase) {
  return {
    id: purchase.reference,
    reference: purchase.reference,
    status: purchase.status,
    customer: purchase.customerRef,
    plan: purchase.planRef,
    product: purchase.productRef,
  }
}

/** Returns `data.object` of purchase.plan_changed, with the new plan. */
export function planChangedObject(purchase: Purchase): EventObject<'purchase.plan_changed'> {
  return { ...identityOf(purchase), created: unixSeconds(purchase.createdAt) }
}

/** Returns `data.object` of purchase.plan_change_scheduled, with the plan and its price after the change. */
export function planChangeScheduledObject(
  purchase: Purchase,
  { plan, at }: ChangeToSchedule,
): EventObject<'purchase.plan_change_scheduled'> {
  const priced = planAfterChange(plan, purchase, at)
  const { priceMinor = 0n } = pricesIn(priced, purchase.currency) ?? {}
  return {
    ...purchaseObject(purchase),
    plan: plan.reference,
    amount: Number(priceMinor),
    effectiveAt: unixSeconds(at),
  }
}

/** Returns `data.object` of purchase.past_due. */
export function pastDueObject(purchase: Purchase): EventObject<'purchase.past_due'> {
  return {
    ...identityOf(purchase),
    retryCount: purchase.retryCount,
    nextRetryAt: purchase.nextRetryAt === null ? null : unixSeconds(purchase.nextRetryAt),
    created: unixSeconds(purchase.createdAt),
  }
}

/** Returns `data.object` of purchase.suspended, with the reason that the transition has. */
export function suspendedObject(
  purchase: Purchase,
  trigger: PurchaseTrigger,
): EventObject<'purchase.suspended'> {
  const reason = trigger === 'charged-back' ? 'charged_back' : 'payment_failed'
  return { ...purchaseObject(purchase), reason }
}

/** Returns `data.object` of purchase.trial_ending, with the amount that is charged then. */
export function trialEndingObject(
  purchase: Purchase,
  trialEndsAt: Date,
): EventObject<'purchase.trial_ending'> {
  const trial = { ...purchaseObject(purchase), trialEndsAt: unixSeconds(trialEndsAt) }
  const changed = scheduledPlanFor(purchase, trialEndsAt)
  const prices =
    changed === undefined
      ? pricesAt(purchase, trialEndsAt)
      : pricesIn(planAfterChange(changed, purchase, trialEndsAt), purchase.currency)
  if (prices === undefined) return trial
  // The first charge includes the set-up fee.
  return { ...trial, amount: Number(prices.priceMinor + prices.setupFeeMinor) }
}

/** Returns `data.object` of purchase.renewal_reminder, with the plan and the amount of the period that begins. */
export function renewalReminderObject(
  purchase: Purchase,
  nextBillingAt: Date,
): EventObject<'purchase.renewal_reminder'> {
  const reminder = { ...purchaseObject(purchase), nextBillingAt: unixSeconds(nextBillingAt) }
  const changed = scheduledPlanFor(purchase, nextBillingAt)
  if (changed === undefined) {
    const prices = pricesAt(purchase, nextBillingAt)
    return prices === undefined ? reminder : { ...reminder, amount: Number(prices.priceMinor) }
  }
  const priced = planAfterChange(changed, purchase, nextBillingAt)
  const { priceMinor = 0n, setupFeeMinor = 0n } = pricesIn(priced, purchase.currency) ?? {}
  return { ...reminder, plan: changed.reference, amount: Number(priceMinor + setupFeeMinor) }
}

/** Returns `data.object` of usage.reset. */
export function usageResetObject(
  purchase: Purchase,
  period: Period,
  carriedOverMicros: bigint,
  now: Date,
): EventObject<'usage.reset'> {
  return {
    id: purchase.reference,
    reference: purchase.reference,
    customer: purchase.customerRef,
    product: purchase.productRef,
    purchase: purchase.reference,
    periodStart: unixSeconds(period.start),
    periodEnd: unixSeconds(period.end),
    carriedOverUnits: numberFromMicros(carriedOverMicros),
    created: unixSeconds(now),
  }
}
