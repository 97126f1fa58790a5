import { processorMinimumOf } from '../money/currencies.ts'
import { periodAt, wholeSecond, type Period } from '../periods/periods.ts'
import { prorationLines, setupFeeLines } from '../pricing/charges.ts'
import { totalOf, type InvoiceLine } from '../pricing/invoice-line.ts'
import { pricesIn } from '../pricing/plan-prices.ts'
import { cycleOf, isLapsed } from './access.ts'
import type { PlanSnapshot } from './plan-snapshot.ts'
import type { Purchase } from './repository.ts'

/** A change of plan within a period, which goes on with the new plan. */
export type PlanSwitch = {
  /** Ends with it. */
  readonly from: Purchase
  readonly period: Period
  readonly currency: string
  /** What is charged now, without tax; together they may be a credit. */
  readonly lines: readonly InvoiceLine[]
}

export type SwitchInput = {
  /** What the customer has of the product. */
  readonly held: Purchase | undefined
  readonly plan: PlanSnapshot
  /** Whether the customer never held the plan: the set-up fee is due once. */
  readonly isFirst: boolean
  /** Upper case; undefined: that of the purchase. */
  readonly currency: string | undefined
  readonly at: Date
}

/**
 * Undefined where the new plan begins a period of its own, at its full price: that is the policy `full`, which plans
 * have that name none, and there is no other way where nothing was paid for a period, or for one of another length or in
 * another currency.
 */
export function decideSwitch({
  held,
  plan,
  isFirst,
  currency,
  at,
}: SwitchInput): PlanSwitch | undefined {
  if ((plan.terms.prorationPolicy ?? 'full') === 'full') return undefined
  if (held === undefined || held.planSnapshot === null || held.planRef === plan.reference) {
    return undefined
  }
  if (currency !== undefined && currency !== held.currency) return undefined
  const before = held.planSnapshot
  const cycle = cycleOf(held)
  if (cycle === undefined || !isPaidUntilLater(held, at) || !haveOneCycle(before, plan)) {
    return undefined
  }
  const isPaid = (pricesIn(before, held.currency)?.priceMinor ?? 0n) > 0n
  if (!isPaid || pricesIn(plan, held.currency) === undefined) return undefined
  const period = periodAt(cycle, at)
  const prorated = prorationLines(before, plan, held.currency, period, wholeSecond(at))
  const fee = isFirst ? setupFeeLines(plan, held.currency) : []
  return { from: held, period, currency: held.currency, lines: [...prorated, ...fee] }
}

/** Whether it can take place at once: what it costs is too little to be charged by itself, or a credit. */
export function needsNoPayment({ lines, currency }: PlanSwitch): boolean {
  return totalOf(lines) < processorMinimumOf(currency)
}

/** A renewal that is due was not paid yet. */
function isPaidUntilLater(held: Purchase, at: Date): boolean {
  const { status, nextBillingDate } = held
  if (status !== 'active' || isLapsed(held, at)) return false
  return nextBillingDate === null || nextBillingDate > at
}

function haveOneCycle(before: PlanSnapshot, after: PlanSnapshot): boolean {
  const isPeriodic = ({ type }: PlanSnapshot) => type === 'recurring' || type === 'hybrid'
  return (
    isPeriodic(before) &&
    isPeriodic(after) &&
    before.terms.billingCycle === after.terms.billingCycle &&
    before.terms.billingCycleDays === after.terms.billingCycleDays
  )
}
