import type { ChangeBilling } from '@tollgate/schemas/http/scheduled-changes'
import type { ChangedDiscount, PeriodDiscount } from '../coupons/discount-lines.ts'
import { periodAt, type Period } from '../periods/periods.ts'
import { includedMicros } from '../plans/included-units.ts'
import type { PlanSnapshot } from '../plans/plan-snapshot.ts'
import { pricesIn } from '../pricing/plan-prices.ts'
import { cycleOf, isLapsed } from './access.ts'
import { decideProration, type PlanSwitch } from './decide-switch.ts'
import { planAfterChange, planAt } from './offered-plan.ts'
import { paidPriceAt } from './paid-price.ts'
import type { Purchase } from './purchase.ts'
import { discountsOfPeriod } from './switch-discounts.ts'
import { isEnding } from './transitions.ts'

/** What happens to a change of plan that was scheduled for a time within a period. */
export type DueChange =
  /** The change is not due, or has no effect as long as the purchase is in its state. */
  | { readonly kind: 'nothing' }
  /** A renewal or the end of a trial is due first, or older invoices of the product are unpaid. */
  | { readonly kind: 'wait' }
  | {
      readonly kind: 'change'
      readonly plan: PlanSnapshot
      /** The change within the running period. Undefined for a plan without periods, and within a trial, which charges nothing. */
      readonly change: PlanSwitch | undefined
    }
  /** The difference cannot be prorated, so the next renewal changes the plan. */
  | { readonly kind: 'renewal'; readonly at: Date }

/**
 * Decides whether the scheduled change takes effect now. A change that waits takes effect with the next renewal at the latest, because
 * a renewal applies every change that was scheduled for its time or before.
 */
export function decideDueChange(
  purchase: Purchase,
  hasDebts: boolean,
  now: Date,
  periodDiscounts: readonly PeriodDiscount[],
): DueChange {
  const { scheduledPlan: plan, scheduledPlanAt: at, scheduledBilling: billing } = purchase
  const { status, nextBillingDate } = purchase
  if (plan === null || at === null || billing === undefined || at > now) return { kind: 'nothing' }
  const isRunning = status === 'active' || status === 'trialing'
  if (!isRunning || isEnding(purchase) || isLapsed(purchase, now)) return { kind: 'nothing' }
  const isRenewalDue = nextBillingDate !== null && nextBillingDate <= now
  if (isRenewalDue || hasDebts) return { kind: 'wait' }
  return changeWithin(purchase, plan, billing, now, periodDiscounts)
}

/**
 * Returns how the purchase changes to the plan at that time, within the period that runs then. `periodDiscounts`: what discounts took
 * off the price of its newest period.
 */
export function changeWithin(
  held: Purchase,
  chosen: PlanSnapshot,
  billing: ChangeBilling,
  at: Date,
  periodDiscounts: readonly PeriodDiscount[],
): DueChange {
  const { planSnapshot: before, nextBillingDate, currency } = held
  const cycle = cycleOf(held)
  if (before === null) return { kind: 'nothing' }
  const plan = planAfterChange(chosen, held, at)
  if (cycle === undefined || held.status === 'trialing') {
    return { kind: 'change', plan, change: undefined }
  }
  if (billing === 'keep_period' || costNothing([planAt(held, before, at), plan], currency)) {
    const kept = { period: periodAt(cycle, at), lines: [], currency }
    const discounts = keptDiscounts(periodDiscounts, kept.period)
    const change = {
      ...{ from: held, plan, ...kept, discounts },
      includedMicros: unitsFromChange(before, plan),
      keptMinor: paidPriceAt(held, before, at),
    }
    return { kind: 'change', plan, change }
  }
  // The plan was scheduled without a set-up fee if the customer has paid one before.
  const wanted = { held, plan, isFirstCharge: true, currency: undefined, at, periodDiscounts }
  const change = decideProration(wanted)
  if (change !== undefined) return { kind: 'change', plan, change }
  return nextBillingDate === null ? { kind: 'nothing' } : { kind: 'renewal', at: nextBillingDate }
}

/** Returns the discounts of the period, which continues with them: its price stays what was charged, and so do they. */
function keptDiscounts(
  periodDiscounts: readonly PeriodDiscount[],
  period: Period,
): ChangedDiscount[] {
  return discountsOfPeriod(periodDiscounts, period).map(
    ({ discount, amountMinor, elsewhereMinor }) => ({
      ...{ discount, elsewhereMinor },
      oldMinor: amountMinor,
      newMinor: amountMinor,
    }),
  )
}

/** Returns whether the plans charge nothing for a period in advance. */
function costNothing(plans: readonly PlanSnapshot[], currency: string): boolean {
  return plans.every((plan) => {
    const { priceMinor = 0n, setupFeeMinor = 0n } = pricesIn(plan, currency) ?? {}
    return priceMinor === 0n && setupFeeMinor === 0n
  })
}

/**
 * Returns the units that the rest of the period includes. Usage since its start counts against the new plan, except after a plan
 * without a limit: the customer could use any number of units until then.
 */
function unitsFromChange(before: PlanSnapshot, plan: PlanSnapshot): bigint | null {
  return includedMicros(before) === null ? includedMicros(plan) : null
}
