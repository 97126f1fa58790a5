import type { ProrationPolicy } from '@tollgate/schemas/http/plan-terms'
import { processorMinimumOf } from '../money/currencies.ts'
import { periodAt, wholeSecond, type Period } from '../periods/periods.ts'
import { prorationLines, setupFeeLines } from '../pricing/charges.ts'
import { totalOf, type InvoiceLine } from '../pricing/invoice-line.ts'
import { renews } from '../plans/plan.ts'
import { pricesIn, withoutSetupFee } from '../pricing/plan-prices.ts'
import { cycleOf, isLapsed } from './access.ts'
import { keptUntil, noticeDaysOf } from './notice.ts'
import { snapshotOf, type PlanSnapshot } from '../plans/plan-snapshot.ts'
import { includesUnits, prorateUnits } from './prorate-units.ts'
import type { Purchase } from './repository.ts'
import { isEnding } from './transitions.ts'

/** A change of plan within a period, which goes on with the new plan. */
export type PlanSwitch = {
  /** Ends with it. */
  readonly from: Purchase
  readonly period: Period
  readonly currency: string
  /** What is charged now, without tax; together they may be a credit. */
  readonly lines: readonly InvoiceLine[]
  /** Units that are included in the prices of the period, 10^-6; null: as many as the new plan includes. */
  readonly includedMicros: bigint | null
}

export type SwitchInput = {
  /** What the customer has of the product. */
  readonly held: Purchase | undefined
  readonly plan: PlanSnapshot
  /** Whether the customer has paid for no purchase of the plan: its set-up fee is due. */
  readonly isFirstCharge: boolean
  /** Upper case; undefined: that of the purchase. */
  readonly currency: string | undefined
  readonly at: Date
}

/** A change of plan that takes effect at a renewal of the purchase: the next one, unless a notice puts it off. */
export type ScheduledChange = {
  readonly from: Purchase
  readonly plan: PlanSnapshot
  readonly at: Date
}

type ChangeDecision =
  /** The new plan begins a period of its own, at its full price. */
  | { readonly kind: 'own-period' }
  | { readonly kind: 'now'; readonly change: PlanSwitch }
  | { readonly kind: 'at-renewal'; readonly change: ScheduledChange }
  /** It would wait for the renewal, and none comes. `from` is paid until then, or held by its notice. */
  | { readonly kind: 'too-early'; readonly from: Purchase; readonly until: Date }

/**
 * Decides when a change of plan takes effect.
 *
 * A period of its own begins by the policy `full`, where nothing was paid for the running period, and where the new plan
 * has another currency or a period of another length. By the policy `none` the change waits for the renewal. By
 * `proportional`, which is that of plans that name none, and by `none` where no renewal comes, the price is shared out by
 * time, and so are the units that it includes.
 *
 * No units are credited: which of them are used is not known here, and usage can come late. So a change from a plan that
 * includes units to a cheaper one waits for the renewal. So does one whose difference is too small to be charged by
 * itself: nobody gets units before they are paid.
 *
 * A plan with a notice is left for a cheaper one when a cancellation would end it, whatever the policy.
 */
export function decideChange(input: SwitchInput): ChangeDecision {
  const until = input.held && keptUntil(input.held, input.plan, input.at)
  if (input.held !== undefined && until !== undefined) {
    return changeAfterNotice(input.held, input, until)
  }
  const running = runningPeriod(input)
  if (running === undefined) return { kind: 'own-period' }
  const { plan } = input
  const { held, period } = running
  const policy = policyOf(plan)
  if (policy === 'full') return { kind: 'own-period' }
  const renewsAt = renewalFor(held, plan)
  if (policy === 'proportional' || renewsAt === undefined) {
    const change = shareOut(running, input)
    if (change !== undefined) return { kind: 'now', change }
  }
  if (renewsAt === undefined) return { kind: 'too-early', from: held, until: period.end }
  return changeAt(held, input, renewsAt)
}

function changeAt(from: Purchase, { plan, isFirstCharge }: SwitchInput, at: Date): ChangeDecision {
  const snapshot = snapshotOf(plan)
  const chosen = isFirstCharge ? snapshot : withoutSetupFee(snapshot)
  return { kind: 'at-renewal', change: { from, plan: chosen, at } }
}

/** What cannot go on with the periods of the purchase waits for the customer to cancel it. */
function changeAfterNotice(held: Purchase, input: SwitchInput, until: Date): ChangeDecision {
  const isRenewal = renewalFor(held, input.plan) !== undefined && canFollow(held, input)
  return isRenewal ? changeAt(held, input, until) : { kind: 'too-early', from: held, until }
}

/** The change that takes place at once; undefined: none does. */
export function decideSwitch(input: SwitchInput): PlanSwitch | undefined {
  const decision = decideChange(input)
  return decision.kind === 'now' ? decision.change : undefined
}

/** Why a change is refused that would wait for a renewal. */
export function tooEarly({
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

/** What the rest of the period costs with the new plan; undefined: the change has to wait for the renewal. */
function shareOut(
  { held, before, period }: RunningPeriod,
  { plan, isFirstCharge, at }: SwitchInput,
): PlanSwitch | undefined {
  const { currency } = held
  const changedAt = wholeSecond(at)
  const prorated = prorationLines(before, plan, currency, period, changedAt, 'proportional')
  const lines = [...prorated, ...(isFirstCharge ? setupFeeLines(plan, currency) : [])]
  const isCheaper = priceOf(plan, currency) < priceOf(before, currency)
  if (isCheaper && includesUnits(before)) return undefined
  const dueMinor = totalOf(lines)
  const isTooSmall = dueMinor > 0n && dueMinor < processorMinimumOf(currency)
  if (isTooSmall && (includesUnits(before) || includesUnits(plan))) return undefined
  const prices = { oldMinor: priceOf(before, currency), newMinor: priceOf(plan, currency) }
  const charged = { ...prices, chargedMinor: totalOf(prorated), period, changedAt }
  const includedMicros = prorateUnits(held, before, plan, charged)
  return { from: held, period, currency, lines, includedMicros }
}

function priceOf(plan: PlanSnapshot, currency: string): bigint {
  return pricesIn(plan, currency)?.priceMinor ?? 0n
}

/** The renewal that can be one of the plan. What a cancelled purchase renews by, because of its notice, is its own plan. */
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

/** The period that the customer has paid for, if the new plan can go on with it. */
function runningPeriod(input: SwitchInput): RunningPeriod | undefined {
  const { held, plan, at } = input
  if (held === undefined || held.planSnapshot === null || held.planRef === plan.reference) {
    return undefined
  }
  const before = held.planSnapshot
  const cycle = cycleOf(held)
  if (cycle === undefined || !isPaidUntilLater(held, at) || !canFollow(held, input)) {
    return undefined
  }
  if (priceOf(before, held.currency) === 0n) return undefined
  return { held, before, period: periodAt(cycle, at) }
}

/** Whether the plan has the periods and the currency of the purchase. */
function canFollow(held: Purchase, { plan, currency = held.currency }: SwitchInput): boolean {
  if (currency !== held.currency || pricesIn(plan, currency) === undefined) return false
  return held.planSnapshot !== null && haveOneCycle(held.planSnapshot, plan)
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
