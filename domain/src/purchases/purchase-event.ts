import type { JsonObject } from '@tollgate/schemas/json-object'
import { unixSeconds } from '../outbox/unix-seconds.ts'
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
