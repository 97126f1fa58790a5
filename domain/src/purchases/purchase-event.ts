import type { JsonObject } from '@tollgate/schemas/json-object'
import { numberFromMicros } from '@tollgate/schemas/quantity'
import { unixSeconds } from '../outbox/unix-seconds.ts'
import type { Period } from '../periods/periods.ts'
import type { Purchase } from './repository.ts'

/** `data.object` of most purchase events; the status is the new one. */
export function purchaseObject(purchase: Purchase): JsonObject {
  return {
    id: purchase.reference,
    reference: purchase.reference,
    status: purchase.status,
    customer: purchase.customerRef,
    plan: purchase.planRef,
    product: purchase.productRef,
    amount: purchase.amountMinor,
    currency: purchase.currency.toLowerCase(),
    billingCycle: purchase.billingCycle,
    isRecurring: purchase.isRecurring,
    created: unixSeconds(purchase.createdAt),
  }
}

/** `data.object` of purchase.plan_changed: the new plan. */
export function planChangedObject(purchase: Purchase): JsonObject {
  return {
    id: purchase.reference,
    reference: purchase.reference,
    status: purchase.status,
    customer: purchase.customerRef,
    plan: purchase.planRef,
    product: purchase.productRef,
    created: unixSeconds(purchase.createdAt),
  }
}

/** `data.object` of purchase.trial_ending. */
export function trialEndingObject(purchase: Purchase, trialEndsAt: Date): JsonObject {
  return { ...purchaseObject(purchase), trialEndsAt: unixSeconds(trialEndsAt) }
}

/** `data.object` of purchase.renewal_reminder. */
export function renewalReminderObject(purchase: Purchase, nextBillingAt: Date): JsonObject {
  return { ...purchaseObject(purchase), nextBillingAt: unixSeconds(nextBillingAt) }
}

/** `data.object` of usage.reset. */
export function usageResetObject(
  purchase: Purchase,
  period: Period,
  carriedOverMicros: bigint,
  now: Date,
): JsonObject {
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
