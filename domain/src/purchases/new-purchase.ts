import type { PurchaseOrigin } from '@tollgate/schemas/http/purchases'
import type { Customer } from '../customers/repository.ts'
import { periodOf, wholeSecond, type CycleMode } from '../periods/periods.ts'
import type { Plan } from '../plans/plan.ts'
import { trialEnd } from '../pricing/trial.ts'
import type { Product } from '../products/repository.ts'
import { drawReference } from '../unit-of-work/draw-reference.ts'
import { cycleOf } from './access.ts'
import { snapshotOf } from './plan-snapshot.ts'
import type { Purchase } from './repository.ts'

export type UnpaidPurchase = {
  readonly customer: Customer
  readonly product: Product
  readonly plan: Plan
  readonly cycleMode: CycleMode
  readonly origin: PurchaseOrigin
  readonly now: Date
}

/** A purchase that starts now and for which nothing is paid beforehand. */
export function unpaidPurchase(given: UnpaidPurchase): Purchase {
  const { customer, product, plan, cycleMode, origin, now } = given
  const anchor = wholeSecond(now)
  const isRecurring = plan.type !== 'one-time'
  const purchase: Purchase = {
    reference: drawReference('purchase'),
    customerRef: customer.reference,
    customerEmail: customer.email,
    productRef: product.reference,
    productName: product.name,
    planRef: plan.reference,
    planSnapshot: snapshotOf(plan),
    status: 'active',
    origin,
    amountMinor: 0,
    originalAmountMinor: null,
    currency: plan.currency,
    exchangeRate: null,
    anchor,
    cycleMode,
    billingCycle: plan.terms.billingCycle ?? null,
    isRecurring,
    autoRenew: isRecurring && (plan.terms.autoRenew ?? true),
    startDate: anchor,
    endDate: null,
    nextBillingDate: null,
    paidAt: null,
    cancelledAt: null,
    cancellationReason: null,
    endedAt: null,
    metadata: {},
    remindedOf: null,
    nextResetAt: null,
    retryCount: 0,
    nextRetryAt: null,
    nextUsageBillAt: null,
    createdAt: now,
    updatedAt: now,
  }
  const cycle = cycleOf(purchase)
  const firstPeriodEnd = cycle === undefined ? null : periodOf(cycle, 0).end
  if (!purchase.autoRenew)
    return { ...purchase, endDate: firstPeriodEnd ?? accessEnd(plan, anchor) }
  return { ...purchase, nextBillingDate: firstPeriodEnd, nextResetAt: firstPeriodEnd }
}

/** Whether the plan can be tried before it is paid. What has no periods has none that could begin after the trial. */
export function hasTrial({ terms }: Pick<Plan, 'terms'>): boolean {
  return (terms.trialDays ?? 0) > 0 && terms.billingCycle !== undefined
}

/**
 * A purchase that begins with the plan's trial. Its periods are counted from the end of the trial, where it is charged
 * for the first time.
 */
export function trialPurchase(given: Omit<UnpaidPurchase, 'origin'>): Purchase {
  const { plan, now } = given
  const endsAt = trialEnd(plan.terms.trialDays, now) ?? now
  const afterTrial = unpaidPurchase({
    ...given,
    origin: 'paid',
    now: endsAt,
  })
  return {
    ...afterTrial,
    status: 'trialing',
    startDate: wholeSecond(now),
    nextBillingDate: afterTrial.anchor,
    nextResetAt: afterTrial.anchor,
    createdAt: now,
    updatedAt: now,
  }
}

const dayMs = 86_400_000

function accessEnd(plan: Plan, start: Date): Date | null {
  const days = plan.terms.accessExpiryDays ?? 0
  return days > 0 ? new Date(start.getTime() + days * dayMs) : null
}
