import { periodOf, wholeSecond, type CycleMode } from '@tollgate/domain/periods/periods'
import { pricesIn } from '@tollgate/domain/pricing/plan-prices'
import { chargesUsageLater } from '@tollgate/domain/pricing/billed-charges'
import { renews } from '@tollgate/domain/plans/plan'
import { farFuture } from '@tollgate/domain/entitlements/compile-entitlement'
import { chargeOfRenewal, planRenewal } from '@tollgate/domain/previews/plan-renewal'
import { totalOf } from '@tollgate/domain/pricing/invoice-line'
import type { ScheduledChange } from '@tollgate/domain/purchases/decide-switch'
import type { PlanSnapshot } from '@tollgate/domain/plans/plan-snapshot'
import type { Purchase } from '@tollgate/domain/purchases/repository'
import type { Reader } from '../reader.ts'

/** The charge at the end of a period. */
export type NextCharge = {
  readonly at: Date
  /** Price of the next period in minor units, without a tax that is added to it. 0n means that the period costs nothing. */
  readonly priceMinor: bigint
  readonly currency: string
  /** Whether usage of the period that has ended is also billed. */
  readonly hasUsage: boolean
  /** The plan for which the customer is charged. */
  readonly plan: PlanSnapshot
  /** Whether a tax is added. Default: false. */
  readonly isPlusTax?: boolean
}

/**
 * Returns what a plan charges at the end of its period, or undefined if it charges nothing. `at` is undefined for a plan without
 * periods.
 */
export function nextChargeOf(
  plan: PlanSnapshot,
  currency: string,
  at: Date | undefined,
): NextCharge | undefined {
  if (at === undefined) return undefined
  const priceMinor = renews(plan) ? (pricesIn(plan, currency)?.priceMinor ?? 0n) : 0n
  return chargeOrNone({ at, priceMinor, currency, hasUsage: chargesUsageLater(plan), plan })
}

/**
 * Returns the next charge of a purchase whose plan changes at a renewal. If the old plan renews before the change, this is the
 * charge of that renewal. Otherwise it is the new plan's price and set-up fee, with the usage of the old plan.
 */
export function chargeOfChange({ from, plan, at }: ScheduledChange): NextCharge | undefined {
  const changing = { ...from, scheduledPlan: plan, scheduledPlanAt: at }
  // A renewal that costs nothing is no charge, so the next one is that of the change.
  return (
    nextChargeOfPurchase(changing) ?? nextChargeOfPurchase({ ...changing, nextBillingDate: at })
  )
}

function chargeOrNone(next: NextCharge): NextCharge | undefined {
  return next.priceMinor === 0n && !next.hasUsage ? undefined : next
}

/** Returns the charge with a price that discounts reduce. Undefined if nothing is left to charge. */
export function reducedCharge(next: NextCharge, offMinor: bigint): NextCharge | undefined {
  return offMinor === 0n ? next : chargeOrNone({ ...next, priceMinor: next.priceMinor - offMinor })
}

function firstPriceMinor(plan: PlanSnapshot, currency: string): bigint {
  const { priceMinor = 0n, setupFeeMinor = 0n } = pricesIn(plan, currency) ?? {}
  return priceMinor + setupFeeMinor
}

/** Returns the next charge of the purchase, or undefined if there is none or if its plan is unknown. */
export function nextChargeOfPurchase(purchase: Purchase): NextCharge | undefined {
  const { status, currency, planSnapshot: held, nextBillingDate } = purchase
  if (held === null) return undefined
  const renewal = nextBillingDate && planRenewal(purchase, nextBillingDate, true)
  if (renewal) {
    const charge = chargeOfRenewal(purchase, renewal)
    // A trial is not billed.
    const hasUsage = status !== 'trialing' && chargesUsageLater(held)
    const priceMinor = totalOf(charge?.lines ?? [])
    const plan = charge?.plan ?? held
    return chargeOrNone({ at: renewal.at, priceMinor, currency, hasUsage, plan })
  }
  if (status === 'trialing') return undefined
  // Usage of the last period is billed when the period has ended.
  const { nextUsageBillAt } = purchase
  if (nextUsageBillAt === null || nextUsageBillAt >= farFuture) return undefined
  const hasUsage = chargesUsageLater(held)
  return chargeOrNone({ at: nextUsageBillAt, priceMinor: 0n, currency, hasUsage, plan: held })
}

/** Returns what a plan charges when its trial ends, including the set-up fee. Returns undefined if it charges nothing. */
export function chargeAfterTrial(
  plan: PlanSnapshot,
  currency: string,
  at: Date,
): NextCharge | undefined {
  return chargeOrNone({
    at,
    priceMinor: firstPriceMinor(plan, currency),
    currency,
    hasUsage: false,
    plan,
  })
}

/** Returns the end of the first period of a plan that starts now, or undefined for a plan without periods. */
export function firstPeriodEnd(
  { type, terms }: Pick<PlanSnapshot, 'type' | 'terms'>,
  mode: CycleMode,
  now: Date,
): Date | undefined {
  const { billingCycle, billingCycleDays: customDays } = terms
  if (type === 'one-time' || billingCycle === undefined) return undefined
  return periodOf({ anchor: wholeSecond(now), billingCycle, mode, customDays }, 0).end
}

/** Returns the charge as text, such as `$49.00 on Apr 20, 2026`. */
export function chargeText(
  { at, priceMinor, currency, hasUsage, isPlusTax = false }: NextCharge,
  { t, formats }: Pick<Reader, 't' | 'formats'>,
): string {
  const date = formats.date(at)
  if (priceMinor === 0n) {
    return t(isPlusTax ? 'checkout:chargeOfUsagePlusTax' : 'checkout:chargeOfUsage', { date })
  }
  const amount = formats.money(priceMinor, currency)
  if (hasUsage) {
    const key = isPlusTax ? 'checkout:chargeWithUsagePlusTax' : 'checkout:chargeWithUsage'
    return t(key, { amount, date })
  }
  return t(isPlusTax ? 'checkout:chargePlusTax' : 'checkout:charge', { amount, date })
}
