import { lockCustomer } from '../customers/repository.ts'
import { periodOf, wholeSecond, type CycleMode } from '../periods/periods.ts'
import type { Plan } from '../plans/plan.ts'
import { listPlans } from '../plans/repository.ts'
import { holdProduct } from '../products/repository.ts'
import type { Customer } from '../customers/repository.ts'
import type { Product } from '../products/repository.ts'
import { drawReference } from '../unit-of-work/draw-reference.ts'
import { queuePublication, recordEvent, type UnitOfWork } from '../unit-of-work/unit-of-work.ts'
import { cycleOf } from './access.ts'
import { decideProvision } from './decide-provision.ts'
import { snapshotOf } from './plan-snapshot.ts'
import { purchaseObject } from './purchase-event.ts'
import { findDecidingPurchase, insertPurchase, type Purchase } from './repository.ts'

export type ProvisionOutcome =
  | { readonly kind: 'purchase'; readonly purchase: Purchase }
  | { readonly kind: 'no-purchase'; readonly awaitingPlan: Plan | undefined }
  | { readonly kind: 'product-not-found' }

/**
 * The customer's purchase of the product; made now, once, when there is none and the product's default plan is free.
 * The customer's row is locked, so of calls that arrive together the first makes it and the others find it; the
 * unique index on purchases with access stands behind that.
 */
export async function provisionDefaultPlan(
  work: UnitOfWork,
  customer: Customer,
  productRef: string,
  cycleMode: CycleMode,
): Promise<ProvisionOutcome> {
  const { sql, providerId, now } = work
  const product = await holdProduct(sql, providerId, productRef)
  if (product === undefined) return { kind: 'product-not-found' }
  await lockCustomer(sql, providerId, customer.reference)
  const last = await findDecidingPurchase(sql, providerId, customer.reference, productRef)
  const plans = await listPlans(sql, providerId, [productRef])
  const decision = decideProvision({ product, plans, last, now })
  switch (decision.kind) {
    case 'has-access':
      return { kind: 'purchase', purchase: decision.purchase }
    case 'no-purchase':
      return decision
    case 'enrol': {
      const purchase = freePurchase(customer, product, decision.plan, cycleMode, now)
      await insertPurchase(sql, providerId, purchase)
      await recordEvent(work, 'purchase.created', purchaseObject(purchase))
      await queuePublication(work, 'customer', customer.reference)
      return { kind: 'purchase', purchase }
    }
  }
}

function freePurchase(
  customer: Customer,
  product: Product,
  plan: Plan,
  cycleMode: CycleMode,
  now: Date,
): Purchase {
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
    origin: 'free_default',
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
    createdAt: now,
    updatedAt: now,
  }
  const cycle = cycleOf(purchase)
  const firstPeriodEnd = cycle === undefined ? null : periodOf(cycle, 0).end
  return purchase.autoRenew
    ? { ...purchase, nextBillingDate: firstPeriodEnd }
    : { ...purchase, endDate: firstPeriodEnd ?? accessEnd(plan, anchor) }
}

const dayMs = 86_400_000

function accessEnd(plan: Plan, start: Date): Date | null {
  const days = plan.terms.accessExpiryDays ?? 0
  return days > 0 ? new Date(start.getTime() + days * dayMs) : null
}
