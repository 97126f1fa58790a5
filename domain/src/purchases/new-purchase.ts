import { windowId } from '@tollgate/schemas/hot-state/documents'
import type { PurchaseOrigin } from '@tollgate/schemas/http/purchases'
import type { Customer } from '../customers/repository.ts'
import { farFuture } from '../entitlements/compile-entitlement.ts'
import { dollarCents } from '../money/dollar-amount.ts'
import {
  periodOf,
  unixSeconds,
  wholeSecond,
  type CycleMode,
  type Period,
} from '../periods/periods.ts'
import { isPack } from '../packs/pack-terms.ts'
import { renews } from '../plans/plan.ts'
import { pricesIn } from '../pricing/plan-prices.ts'
import { trialEnd } from '../pricing/trial.ts'
import { billsUsage } from '../pricing/billed-charges.ts'
import type { Product } from '../catalog/products-repository.ts'
import { generateReference } from '../unit-of-work/generate-reference.ts'
import { cycleOf } from './access.ts'
import { changeAheadOn, changesOnlyAddOns } from './carry-add-ons.ts'
import { renewalAfter } from './decide-renewal.ts'
import type { PlanSwitch } from './decide-switch.ts'
import { snapshotOf, type PlanSnapshot } from '../plans/plan-snapshot.ts'
import { firstPaid } from './offered-plan.ts'
import { topUpName } from './purchase-rows.ts'
import type { Purchase } from './repository.ts'
import { isEnding } from './transitions.ts'
import { planOfTrial, unitsOfTrial } from './trial-units.ts'

export type NewPurchase = {
  readonly customer: Pick<Customer, 'reference' | 'email'>
  readonly product: Pick<Product, 'reference' | 'name'>
  readonly plan: PlanSnapshot
  readonly cycleMode: CycleMode
  readonly origin: PurchaseOrigin
  readonly now: Date
}

/** Initial values of a new purchase. */
const initialFields = {
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
  usageClosesAt: null,
  suspendedAt: null,
  accessRestoredAt: null,
  carriedInto: null,
  carriedOverMicros: null,
  carrySettlesAt: null,
  replaces: null,
  allowance: null,
  firstIncludedMicros: null,
  windowsTakenIn: [],
  scheduledPlan: null,
  scheduledPlanAt: null,
  isPack: false,
} as const

/** Returns a purchase that starts now without a payment in advance. */
export function newUnpaidPurchase(given: NewPurchase): Purchase {
  const { customer, product, plan, cycleMode, origin, now } = given
  const anchor = wholeSecond(now)
  const isRecurring = plan.type !== 'one-time'
  const purchase: Purchase = {
    reference: generateReference('purchase'),
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
    autoRenew: renews(plan),
    startDate: anchor,
    ...initialFields,
    isPack: isPack(plan),
    createdAt: now,
    updatedAt: now,
  }
  const cycle = cycleOf(purchase)
  const firstPeriodEnd = cycle === undefined ? null : periodOf(cycle, 0).end
  const nextUsageBillAt = billsUsage(plan) ? (firstPeriodEnd ?? farFuture) : null
  return purchase.autoRenew
    ? { ...purchase, nextBillingDate: firstPeriodEnd, nextResetAt: firstPeriodEnd, nextUsageBillAt }
    : { ...purchase, endDate: firstPeriodEnd ?? accessEnd(plan, anchor), nextUsageBillAt }
}

/** Returns whether the plan has a trial. A plan without periods has no period that could begin after the trial. */
export function hasTrial({ terms }: Pick<PlanSnapshot, 'terms'>): boolean {
  return (terms.trialDays ?? 0) > 0 && terms.billingCycle !== undefined
}

/**
 * Returns a purchase that begins with the plan's trial. Its periods are counted from the end of the trial, when it is charged for
 * the first time.
 */
export function newTrialPurchase(given: Omit<NewPurchase, 'origin'>): Purchase {
  const { plan, now } = given
  const endsAt = trialEnd(plan.terms.trialDays, now) ?? now
  const afterTrial = newUnpaidPurchase({
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

/**
 * Returns a purchase on trial that continues the trial of the one that it replaces, with other terms. The trial ends when it would
 * have ended. Add-ons that would raise it are scheduled for its end.
 */
export function newContinuedTrial(
  given: Omit<NewPurchase, 'origin' | 'cycleMode'>,
  from: Purchase,
  startDate: Date,
): Purchase {
  const { anchor, cycleMode, currency, exchangeRate } = from
  const isWithin = startDate < anchor
  const plan = isWithin ? planOfTrial(given.plan, currency) : given.plan
  const afterTrial = newUnpaidPurchase({ ...given, plan, cycleMode, origin: 'paid', now: anchor })
  return {
    ...afterTrial,
    ...{ anchor, currency, exchangeRate, startDate },
    status: 'trialing',
    nextBillingDate: anchor,
    nextResetAt: anchor,
    firstIncludedMicros: isWithin ? unitsOfTrial(plan) : null,
    ...(plan === given.plan ? {} : scheduledAddOns(snapshotOf(given.plan), anchor)),
    createdAt: given.now,
    updatedAt: given.now,
  }
}

export type PurchasePrice = Pick<
  Purchase,
  'amountMinor' | 'originalAmountMinor' | 'currency' | 'exchangeRate'
>

/** Returns a purchase whose first payment succeeded. The transition `paid` makes it active. */
export function newPaidPurchase(
  given: Omit<NewPurchase, 'origin'>,
  price: PurchasePrice,
): Purchase {
  const origin = given.plan.type === 'one-time' ? 'one_time' : 'paid'
  return {
    ...newUnpaidPurchase({ ...given, origin }),
    ...price,
    status: 'pending',
    paidAt: given.now,
  }
}

/**
 * Returns a purchase that continues the period of the purchase it replaces, from now until that period ends. A change of add-ons that
 * was scheduled for the renewal stays scheduled.
 */
export function newSwitchedPurchase(
  given: Omit<NewPurchase, 'origin' | 'cycleMode' | 'plan'>,
  {
    from,
    plan,
    period: { end },
    includedMicros,
    keptMinor,
  }: Omit<PlanSwitch, 'lines' | 'currency'>,
  price: PurchasePrice,
): Purchase {
  const { anchor, cycleMode } = from
  const alone = newUnpaidPurchase({ ...given, plan, cycleMode, origin: 'paid' })
  const { autoRenew } = alone
  const ahead = autoRenew ? changeAheadOn(from, plan) : undefined
  const continued = { ...alone, ...price, anchor, overrides: from.overrides }
  return {
    ...continued,
    paidAt: from.paidAt,
    endDate: autoRenew ? null : end,
    nextBillingDate: autoRenew ? end : null,
    nextResetAt: autoRenew ? end : null,
    nextUsageBillAt: alone.nextUsageBillAt === null ? null : end,
    firstIncludedMicros: includedMicros,
    ...(keptMinor === undefined ? firstPaid(continued, plan) : { firstPaidMinor: keptMinor }),
    ...(ahead === undefined ? {} : scheduledAddOns(ahead, end)),
  }
}

/** A change of add-ons counts as scheduled by the provider: programs that activate the plan that a customer has do not withdraw it. */
function scheduledAddOns(plan: PlanSnapshot, at: Date): Partial<Purchase> {
  return { scheduledPlan: plan, scheduledPlanAt: at, isScheduledByProvider: true }
}

/**
 * Returns a purchase that replaces `from` at the start of a period, and is to be charged for it. It counts in the window of `from`,
 * because usage since the start of the period may have been counted there. A cancellation that came too late for its notice stays: the
 * period is the last one.
 */
export function newScheduledPurchase(
  given: Omit<NewPurchase, 'origin' | 'cycleMode'>,
  from: Purchase,
  { start, end }: Period,
  price: PurchasePrice,
): Purchase {
  const { reference, anchor, cycleMode } = from
  const alone = newUnpaidPurchase({ ...given, cycleMode, origin: 'paid', now: start })
  const { priceMinor = 0n, setupFeeMinor = 0n } = pricesIn(given.plan, price.currency) ?? {}
  const isCharged = priceMinor > 0n || setupFeeMinor > 0n
  const begun = { ...alone, ...price, anchor, overrides: from.overrides, ...cancellationOf(from) }
  return {
    ...begun,
    ...(isCharged ? { nextBillingDate: start } : renewalAfter(begun, end)),
    nextResetAt: end,
    nextUsageBillAt: alone.nextUsageBillAt === null ? null : end,
    replaces: reference,
    allowance: { window: windowId(reference, unixSeconds(start)), since: start, until: end },
    createdAt: given.now,
    updatedAt: given.now,
  }
}

/**
 * Returns the cancellation of a purchase that renews because of its notice, and its change of plan, which a reactivation brings back. The
 * change of a migration, or of a provider within a period, is superseded.
 */
function cancellationOf(from: Purchase): Partial<Purchase> {
  if (!isEnding(from)) return {}
  const { cancelledAt, cancellationReason, endDate } = from
  const cancelled = { cancelledAt, cancellationReason, endDate }
  const isOwnChoice = from.scheduledMigration === undefined && from.scheduledBilling === undefined
  if (changesOnlyAddOns(from) || !isOwnChoice) return cancelled
  const { scheduledPlan, scheduledPlanAt, isScheduledByProvider, scheduledTermsAt } = from
  return { ...cancelled, scheduledPlan, scheduledPlanAt, isScheduledByProvider, scheduledTermsAt }
}

/** Returns the price of a purchase after a change of plan: the plan's price, whatever was charged for the change. */
export function switchPrice(
  plan: PlanSnapshot,
  currency: string,
  exchangeRate: string,
): PurchasePrice {
  const { priceMinor = 0n } = pricesIn(plan, currency) ?? {}
  return {
    amountMinor: Number(dollarCents(priceMinor, currency, exchangeRate)),
    originalAmountMinor: Number(priceMinor),
    currency,
    exchangeRate,
  }
}

/** Returns the purchase that records a top-up. It gives access to nothing and does not end. */
export function newTopUpPurchase(
  customer: Customer,
  paid: { readonly productRef: string | null; readonly amountMinor: bigint } & {
    readonly originalAmountMinor: bigint
    readonly currency: string
    readonly exchangeRate: string
    readonly cycleMode: CycleMode
  },
  now: Date,
): Purchase {
  const anchor = wholeSecond(now)
  return {
    reference: generateReference('purchase'),
    customerRef: customer.reference,
    customerEmail: customer.email,
    productRef: paid.productRef ?? '',
    productName: topUpName,
    planRef: null,
    planSnapshot: null,
    status: 'active',
    origin: 'credit_topup',
    amountMinor: Number(paid.amountMinor),
    originalAmountMinor: Number(paid.originalAmountMinor),
    currency: paid.currency,
    exchangeRate: paid.exchangeRate,
    anchor,
    cycleMode: paid.cycleMode,
    billingCycle: null,
    isRecurring: false,
    autoRenew: false,
    startDate: anchor,
    ...initialFields,
    paidAt: now,
    metadata: { purpose: 'credit_topup' },
    createdAt: now,
    updatedAt: now,
  }
}

const dayMs = 86_400_000

function accessEnd(plan: PlanSnapshot, start: Date): Date | null {
  const days = plan.terms.accessExpiryDays ?? 0
  return days > 0 ? new Date(start.getTime() + days * dayMs) : null
}
