import type { ProrationPolicy } from '@tollgate/schemas/http/plan-terms'
import type { ChangedDiscount, PeriodDiscount } from '../coupons/discount-lines.ts'
import { processorMinimumOf } from '../money/currencies.ts'
import { periodAt, wholeSecond, type Period } from '../periods/periods.ts'
import { prorationLines, setupFeeLines } from '../pricing/charges.ts'
import { totalOf, type InvoiceLine } from '../pricing/invoice-line.ts'
import { renews } from '../plans/plan.ts'
import { pricesIn, withoutSetupFee } from '../pricing/plan-prices.ts'
import { withoutAddOns } from '../plans/add-ons.ts'
import { cycleOf, isLapsed } from './access.ts'
import { withAddOnsAhead, withRunningAddOns } from './carry-add-ons.ts'
import { boundByNoticeUntil, noticeDaysOf } from './notice.ts'
import { snapshotOf, type PlanSnapshot } from '../plans/plan-snapshot.ts'
import { includesUnits, isProrated, prorateUnits } from './prorate-units.ts'
import { planAt } from './offered-plan.ts'
import { paidPriceAt } from './paid-price.ts'
import type { Purchase } from './repository.ts'
import { switchDiscounts } from './switch-discounts.ts'
import { isEnding } from './transitions.ts'
import { planOfNextPeriod } from '../overrides/overridden-plan.ts'

/** A change of plan within a period. The new plan continues that period. */
export type PlanSwitch = {
  /** The purchase that the change ends. */
  readonly from: Purchase
  /** The new plan, with the add-ons that the purchase keeps. */
  readonly plan: PlanSnapshot
  readonly period: Period
  readonly currency: string
  /** Lines to charge now, without tax. Their total may be a credit. */
  readonly lines: readonly InvoiceLine[]
  /** What discounts of the period take off the prices of both plans. */
  readonly discounts?: readonly ChangedDiscount[]
  /** Units included in the prices of the period, 10^-6; null for as many as the new plan includes. */
  readonly includedMicros: bigint | null
  /** What was charged for the period, if the change keeps it. Undefined: `lines` charge the difference to the price of the new plan. */
  readonly keptMinor?: bigint | undefined
}

export type SwitchInput = {
  /** The customer's purchase of the product that gives access now. */
  readonly held: Purchase | undefined
  /** With the prices of the customer. */
  readonly plan: PlanSnapshot
  /** Whether the customer has not paid for a purchase of the plan before, so that the set-up fee is due. */
  readonly isFirstCharge: boolean
  /** Currency in upper case; undefined for the currency of the purchase. */
  readonly currency: string | undefined
  /** Periods of a ramp of the plan that the customer has begun, for a change that waits for the renewal. Default: none. */
  readonly rampPeriodsBegun?: number | undefined
  /** What discounts took off the price of the newest period of `held`. Default: nothing. */
  readonly periodDiscounts?: readonly PeriodDiscount[] | undefined
  readonly at: Date
}

/** A change of plan at a renewal of the purchase: the next one, or a later one because of a notice. */
export type ScheduledChange = {
  readonly from: Purchase
  readonly plan: PlanSnapshot
  readonly at: Date
}

type ChangeDecision =
  /** The new plan begins a new period at its full price. */
  | { readonly kind: 'own-period' }
  | { readonly kind: 'now'; readonly change: PlanSwitch }
  | { readonly kind: 'at-renewal'; readonly change: ScheduledChange }
  /**
   * The change would have to wait for a renewal, but the purchase does not renew. `from` is paid until `until`, or bound by its
   * notice until then.
   */
  | { readonly kind: 'too-early'; readonly from: Purchase; readonly until: Date }

/**
 * Decides when a change of plan takes effect.
 *
 * A new period begins under the policy `full`, if nothing was paid for the current period, or if the new plan has another currency
 * or period length. Under the policy `none` the change waits for the renewal. Under `proportional`, the default, the price and its
 * included units are prorated by time. This also applies under `none` if the purchase does not renew.
 *
 * No units are credited, because it is not known here which of them are used, and usage can arrive late. A change from a plan that
 * includes units to a cheaper plan therefore waits for the renewal. So does a change whose difference is too small to charge alone,
 * because units are granted only after payment.
 *
 * Included units and caps of charges are not prorated, because each charge has its own. A change from or to a plan with such charges
 * waits for the renewal as well.
 *
 * Within a period and at a renewal, the purchase keeps the add-ons that the new plan allows. The unused time of the others is
 * credited. A new period begins without add-ons.
 *
 * A plan with a notice can be left for a cheaper plan only when a cancellation would end it, whatever the policy.
 */
export function decideChange(given: SwitchInput): ChangeDecision {
  const { held: last } = given
  const input = last === undefined ? given : { ...given, plan: withRunningAddOns(last, given.plan) }
  const until = input.held && boundByNoticeUntil(input.held, input.plan, input.at)
  if (input.held !== undefined && until !== undefined) {
    return changeAfterNotice(input.held, input, until)
  }
  const running = runningPeriod(input)
  const { plan } = input
  if (running === undefined || running.held.planRef === plan.reference) {
    return { kind: 'own-period' }
  }
  const { held, period } = running
  const policy = policyOf(plan)
  if (policy === 'full') return { kind: 'own-period' }
  const renewsAt = renewalFor(held, plan)
  if (policy === 'proportional' || renewsAt === undefined) {
    const change = prorateSwitch(running, input)
    if (change !== undefined) return { kind: 'now', change }
  }
  if (renewsAt === undefined) return { kind: 'too-early', from: held, until: period.end }
  return changeAtRenewal(held, input, renewsAt)
}

function changeAtRenewal(
  from: Purchase,
  { plan, isFirstCharge, rampPeriodsBegun = 0 }: SwitchInput,
  at: Date,
): ChangeDecision {
  const snapshot = snapshotOf(withoutAddOns(plan))
  const counted =
    snapshot.rampPeriods === undefined ? snapshot : { ...snapshot, rampPeriods: rampPeriodsBegun }
  const chosen = isFirstCharge ? counted : withoutSetupFee(counted)
  return { kind: 'at-renewal', change: { from, plan: withAddOnsAhead(from, chosen), at } }
}

/** A plan that cannot continue the purchase's periods cannot be scheduled. The customer has to cancel the purchase first. */
function changeAfterNotice(held: Purchase, input: SwitchInput, until: Date): ChangeDecision {
  const isRenewal = renewalFor(held, input.plan) !== undefined && canFollow(held, input)
  return isRenewal ? changeAtRenewal(held, input, until) : { kind: 'too-early', from: held, until }
}

/** Returns the change that takes effect at once, undefined if there is none. */
export function decideSwitch(input: SwitchInput): PlanSwitch | undefined {
  const decision = decideChange(input)
  return decision.kind === 'now' ? decision.change : undefined
}

/** Returns why a change is refused if it would have to wait for a renewal. */
export function tooEarlyReason({
  from,
  until,
}: {
  readonly from: Purchase
  readonly until: Date
}): string {
  const name = from.planSnapshot?.name ?? 'The plan before'
  if (from.autoRenew && !isEnding(from)) {
    return `${name} has a notice of ${noticeDaysOf(from)} days: cancelled now, it ends on ${until.toISOString()}. Cancel it, and take the plan then.`
  }
  const state = from.nextBillingDate === null ? 'is paid' : 'was cancelled and goes on'
  return `${name} ${state} until ${until.toISOString()}. Take the plan then.`
}

/**
 * Returns the change of the running period to the plan, also to other terms of the plan that the customer has. Undefined if it cannot
 * be prorated.
 */
export function decideProration(input: SwitchInput): PlanSwitch | undefined {
  const running = runningPeriod(input)
  return running && prorateSwitch(running, input)
}

/** Returns the change with the prorated price of the rest of the period. Undefined if the change has to wait for the renewal. */
function prorateSwitch(
  { held, before, period }: RunningPeriod,
  { plan, isFirstCharge, at, periodDiscounts = [] }: SwitchInput,
): PlanSwitch | undefined {
  // The customer's overrides continue on the new plan, and their units cannot be prorated either.
  const own = isProrated(planOfNextPeriod(before, held), planOfNextPeriod(plan, held))
  if (!own || !isProrated(before, plan)) return undefined
  const { currency } = held
  const changedAt = wholeSecond(at)
  const oldMinor = paidPriceAt(held, before, at)
  const newMinor = priceOf(plan, currency)
  const prorated = prorationLines(oldMinor, plan, currency, period, changedAt, 'proportional')
  const changed = { period, changedAt, planRef: plan.reference, newMinor }
  const { discounts, discountLines } = switchDiscounts(held, changed, periodDiscounts)
  const lines = [
    ...prorated,
    ...(isFirstCharge ? setupFeeLines(plan, currency) : []),
    ...discountLines,
  ]
  const priceBefore = priceOf(planAt(held, before, at), currency)
  const isCheaper = newMinor < oldMinor || newMinor < priceBefore
  if (isCheaper && includesUnits(before)) return undefined
  const dueMinor = totalOf(lines)
  const isTooSmall = dueMinor > 0n && dueMinor < processorMinimumOf(currency)
  if (isTooSmall && (includesUnits(before) || includesUnits(plan))) return undefined
  const charged = { oldMinor, newMinor, chargedMinor: totalOf(prorated), period, changedAt }
  const includedMicros = prorateUnits(held, before, plan, charged)
  return { from: held, plan, period, currency, lines, discounts, includedMicros }
}

function priceOf(plan: PlanSnapshot, currency: string): bigint {
  return pricesIn(plan, currency)?.priceMinor ?? 0n
}

/**
 * Returns the next renewal that can change to the plan. A cancelled purchase that still renews because of its notice renews with
 * its own plan.
 */
function renewalFor(held: Purchase, plan: PlanSnapshot): Date | undefined {
  if (!held.autoRenew || isEnding(held) || !renews(plan)) return undefined
  return held.nextBillingDate ?? undefined
}

function policyOf({ terms }: PlanSnapshot): ProrationPolicy {
  return terms.prorationPolicy ?? 'proportional'
}

type RunningPeriod = {
  readonly held: Purchase
  /** The plan of `held`. */
  readonly before: PlanSnapshot
  readonly period: Period
}

/** Returns the current paid period if the new plan can continue it. */
function runningPeriod(input: SwitchInput): RunningPeriod | undefined {
  const { held, at } = input
  if (held === undefined || held.planSnapshot === null) return undefined
  const before = held.planSnapshot
  const cycle = cycleOf(held)
  if (cycle === undefined || !isPeriodPaid(held, at) || !canFollow(held, input)) {
    return undefined
  }
  if (paidPriceAt(held, before, at) === 0n) return undefined
  return { held, before, period: periodAt(cycle, at) }
}

/** Returns whether the plan has the same periods as the purchase and a price in the same currency. */
function canFollow(held: Purchase, { plan, currency = held.currency }: SwitchInput): boolean {
  if (currency !== held.currency || pricesIn(plan, currency) === undefined) return false
  return held.planSnapshot !== null && haveSameCycle(held.planSnapshot, plan)
}

/** Returns whether the change takes effect without a payment, because its total is a credit or too small to charge alone. */
export function needsNoPayment({ lines, currency }: PlanSwitch): boolean {
  return totalOf(lines) < processorMinimumOf(currency)
}

/** Returns whether the current period is paid. It is not while a renewal is due. */
function isPeriodPaid(held: Purchase, at: Date): boolean {
  const { status, nextBillingDate } = held
  if (status !== 'active' || isLapsed(held, at)) return false
  return nextBillingDate === null || nextBillingDate > at
}

function haveSameCycle(before: PlanSnapshot, after: PlanSnapshot): boolean {
  const isPeriodic = ({ type }: PlanSnapshot) => type === 'recurring' || type === 'hybrid'
  return (
    isPeriodic(before) &&
    isPeriodic(after) &&
    before.terms.billingCycle === after.terms.billingCycle &&
    before.terms.billingCycleDays === after.terms.billingCycleDays
  )
}
