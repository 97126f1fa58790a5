import { isDeepStrictEqual } from 'node:util'
import {
  attachedTo,
  chargedBefore,
  isRaisable,
  quantityOf,
  withAddOns,
  withoutAddOns,
} from '../plans/add-ons.ts'
import type { AttachedAddOn } from '../plans/plan.ts'
import { snapshotOf, type PlanSnapshot } from '../plans/plan-snapshot.ts'
import { pricesIn, withoutSetupFee } from '../pricing/plan-prices.ts'
import { hasTerms } from './has-terms.ts'
import type { ChangeToSchedule, Purchase } from './purchase.ts'

/**
 * Returns the add-ons that the purchase has after its next renewal. Undefined if it changes to another plan then, or to new terms of
 * its plan.
 */
export function addOnsAhead(held: Purchase): readonly AttachedAddOn[] | undefined {
  const { planSnapshot, scheduledPlan } = held
  if (scheduledPlan === null) return attachedTo(planSnapshot)
  return changesOnlyAddOns(held) ? attachedTo(scheduledPlan) : undefined
}

/** Returns whether the scheduled change of the purchase only changes its add-ons. */
export function changesOnlyAddOns({
  planSnapshot,
  scheduledPlan,
  scheduledBilling,
}: Pick<Purchase, 'planSnapshot' | 'scheduledPlan' | 'scheduledBilling'>): boolean {
  if (planSnapshot === null || scheduledPlan === null || scheduledBilling !== undefined) {
    return false
  }
  return hasTerms(withoutAddOns(planSnapshot), withoutAddOns(scheduledPlan))
}

/** Returns when the terms of the purchase, without its add-ons, were those of its plan. */
export function termsTimeOf({ termsAt, createdAt }: Pick<Purchase, 'termsAt' | 'createdAt'>): Date {
  return termsAt ?? createdAt
}

/** Returns whether the plans are the same but for their add-ons, and those differ. */
export function differOnlyInAddOns(before: PlanSnapshot, after: PlanSnapshot): boolean {
  return (
    hasTerms(withoutAddOns(before), withoutAddOns(after)) &&
    !haveSameAddOns(attachedTo(before), attachedTo(after))
  )
}

/** Returns the plan with those add-ons of the purchase that it allows, as they are in the running period. */
export function withRunningAddOns(held: Purchase, plan: PlanSnapshot): PlanSnapshot {
  return carried(runningAddOns(held), held, plan)
}

/** Returns the plan with those add-ons that it allows, as the purchase has them after its next renewal. */
export function withAddOnsAhead(held: Purchase, plan: PlanSnapshot): PlanSnapshot {
  return carried(pendingAddOns(held), held, plan)
}

/**
 * Returns the change of add-ons that the purchase has scheduled, for the plan that now takes its place. Undefined if the plan has its
 * add-ons already as they are scheduled.
 */
export function changeAheadOn(held: Purchase, plan: PlanSnapshot): PlanSnapshot | undefined {
  if (held.scheduledPlan === null) return undefined
  // Scheduled terms are those that everybody buys: the prices of the customer are those of the renewal, and the fee is charged now.
  const ahead = withAddOnsAhead(held, withoutSetupFee(snapshotOf(withoutAddOns(plan))))
  return haveSameAddOns(attachedTo(plan), attachedTo(ahead)) ? undefined : ahead
}

/**
 * Returns the add-ons of the scheduled terms, with those of the running period that only the scheduled plan does not allow: another plan
 * may allow them.
 */
function pendingAddOns(held: Purchase): AttachedAddOn[] {
  const { planSnapshot, scheduledPlan, currency } = held
  const running = runningAddOns(held)
  if (scheduledPlan === null) return running
  const scheduled = attachedTo(scheduledPlan)
  const dropped = running.filter(
    (addOn) =>
      quantityOf(scheduled, addOn.reference) === 0 &&
      !isAllowed(addOn, planSnapshot, scheduledPlan, currency),
  )
  return [...dropped, ...scheduled]
}

/**
 * Returns what stays scheduled if the change of plan is withdrawn: a change of the add-ons. Null if there is none, or if the scheduled
 * change is nothing else.
 */
export function changeWithoutPlan(held: Purchase): ChangeToSchedule | null {
  const { planSnapshot, scheduledPlan, nextBillingDate: at, currency } = held
  if (planSnapshot === null || scheduledPlan === null || at === null) return null
  if (changesOnlyAddOns(held)) return null
  const [running, pending] = [runningAddOns(held), pendingAddOns(held)]
  if (haveSameAddOns(running, pending)) return null
  const plan = withAddOns(withoutSetupFee(withoutAddOns(planSnapshot)), pending, currency)
  return { plan, at, termsAt: termsTimeOf(held), isByProvider: true }
}

/**
 * Returns the change that `restored` has to schedule after a refund undid changes of add-ons, of which `last` was the latest purchase:
 * what was chosen for the renewal of `last` stays chosen, but for the add-ons that the refund took away. Null if that is nothing, or if
 * other changes were undone as well.
 */
export function changeAfterUndo(
  restored: Purchase,
  last: Purchase,
  renewsAt: Date,
): ChangeToSchedule | null {
  const [plan, chosen] = [restored.planSnapshot, last.scheduledPlan]
  if (plan === null || chosen === null || last.planSnapshot === null) return null
  const own = withoutAddOns(plan)
  if (!hasTerms(own, withoutAddOns(last.planSnapshot))) return null
  const running = chargedBefore(attachedTo(plan))
  const ahead = aheadAfterUndo(running, runningAddOns(last), pendingAddOns(last))
  const { scheduledBilling: billing, isScheduledByProvider: isByProvider } = last
  // A migration finds the restored purchase itself.
  if (!changesOnlyAddOns(last) && last.scheduledMigration === undefined) {
    const { scheduledTermsAt: termsAt } = last
    const next = carried(ahead, restored, withoutAddOns(chosen))
    return { plan: next, at: last.scheduledPlanAt ?? renewsAt, billing, termsAt, isByProvider }
  }
  if (haveSameAddOns(ahead, running)) return null
  const next = withAddOns(withoutSetupFee(own), ahead, restored.currency)
  return { plan: next, at: renewsAt, termsAt: termsTimeOf(restored), isByProvider: true }
}

/** Returns the add-ons that `running` has after the renewal, if those of `undone` were to become `chosen` then. */
function aheadAfterUndo(
  running: readonly AttachedAddOn[],
  undone: readonly AttachedAddOn[],
  chosen: readonly AttachedAddOn[],
): AttachedAddOn[] {
  const kept = running.flatMap((addOn) => {
    const { reference, quantity } = addOn
    const [before, after] = [quantityOf(undone, reference), quantityOf(chosen, reference)]
    // Less than the purchase had before the refund may be more than it has now.
    const ahead = after < before ? Math.min(after, quantity) : after > before ? after : quantity
    return ahead === 0 ? [] : [{ ...addOn, quantity: ahead }]
  })
  const added = chosen.filter(({ reference }) =>
    [running, undone].every((each) => quantityOf(each, reference) === 0),
  )
  return [...kept, ...added]
}

/** Set-up fees do not count, and the order in which they were attached only orders the lines of invoices. */
export function haveSameAddOns(
  one: readonly AttachedAddOn[],
  other: readonly AttachedAddOn[],
): boolean {
  const [first, second] = [one, other].map((each) =>
    chargedBefore(each).sort((a, b) => (a.reference < b.reference ? -1 : 1)),
  )
  return isDeepStrictEqual(first, second)
}

/** Returns the add-ons of the running period, which has charged their set-up fees. A trial charges nothing. */
function runningAddOns({
  planSnapshot,
  status,
}: Pick<Purchase, 'planSnapshot' | 'status'>): AttachedAddOn[] {
  const attached = attachedTo(planSnapshot)
  return status === 'trialing' ? [...attached] : chargedBefore(attached)
}

function carried(
  attached: readonly AttachedAddOn[],
  { planSnapshot, currency }: Purchase,
  plan: PlanSnapshot,
): PlanSnapshot {
  const allowed = attached.filter((addOn) => isAllowed(addOn, planSnapshot, plan, currency))
  return withAddOns(plan, allowed, currency)
}

/** The price of an add-on is for the billing cycle and in the currency of the plans that it names. */
function isAllowed(
  { planRefs, raises }: AttachedAddOn,
  held: PlanSnapshot | null,
  plan: PlanSnapshot,
  currency: string,
): boolean {
  const [before, after] = [held?.terms, plan.terms]
  const own = withoutAddOns(plan)
  return (
    planRefs.includes(plan.reference) &&
    before?.billingCycle === after.billingCycle &&
    before?.billingCycleDays === after.billingCycleDays &&
    // A period that is free for a customer is one of a plan that has a price.
    (pricesIn(own.listed ?? own, currency)?.priceMinor ?? 0n) > 0n &&
    raises.every((raise) => isRaisable(own, raise))
  )
}
