import { isDeepStrictEqual } from 'node:util'
import type { AddOnTime } from '@tollgate/schemas/http/add-ons'
import { attachedAddOnsMax } from '@tollgate/schemas/limits'
import type { AddOn } from '../catalog/add-on.ts'
import type { PeriodDiscount } from '../coupons/discount-lines.ts'
import { exceedsCharge } from '../money/processor-amounts.ts'
import {
  attachedTo,
  chargedBefore,
  exceedsUnits,
  isRaisable,
  quantityOf,
  withAddOns,
  withoutAddOns,
} from '../plans/add-ons.ts'
import type { AttachedAddOn } from '../plans/plan.ts'
import type { PlanSnapshot } from '../plans/plan-snapshot.ts'
import { pricesIn, withoutSetupFee } from '../pricing/plan-prices.ts'
import { addOnsAhead, haveSameAddOns, termsTimeOf } from './carry-add-ons.ts'
import { obstacleOfState, type StateObstacle } from './decide-schedule.ts'
import type { PlanSwitch } from './decide-switch.ts'
import type { ChangeToSchedule, Purchase } from './purchase.ts'
import { switchAddOns } from './switch-add-ons.ts'
import { raisesTrial, unitsOfTrial } from './trial-units.ts'

/** A quantity of 0 removes the add-on. */
export type AddOnChange = {
  readonly addOn: AddOn
  readonly quantity: number
  readonly when: AddOnTime
}

export type AddOnObstacle =
  | StateObstacle
  /** The add-on would raise units of the trial, which is free. */
  | 'trialing'
  | 'archived'
  /** The add-on may not be attached to the plan, or the plan has nothing that it raises. */
  | 'other_plan'
  | 'other_currency'
  | 'other_period'
  /** The plan has no price in advance, so it has no period that is paid. */
  | 'free_plan'
  | 'too_many'
  | 'not_attached'
  /** The purchase changes to another plan later. */
  | 'change_pending'
  /** Invoices of the product are unpaid, or a renewal is due. */
  | 'unpaid'
  /** The change is possible with the next renewal, and not within the period. */
  | 'only_at_renewal'

export type AddOnDecision =
  | { readonly kind: 'refused'; readonly obstacle: AddOnObstacle }
  /** The purchase has the quantity already, and keeps it. */
  | { readonly kind: 'unchanged' }
  /** Nothing of a trial is charged, so its terms change in place. */
  | {
      readonly kind: 'in-trial'
      readonly plan: PlanSnapshot
      readonly firstIncludedMicros: bigint | null
      /** The change at the end of the trial, for add-ons that would raise it. Null if there is none. */
      readonly ahead: ChangeToSchedule | null
    }
  /** `ahead` are the terms from the next renewal on, if they differ. */
  | { readonly kind: 'now'; readonly change: PlanSwitch; readonly ahead: PlanSnapshot | null }
  /** Null: the next period keeps the terms of the running one, so a scheduled change is withdrawn. */
  | { readonly kind: 'renewal'; readonly at: Date; readonly change: ChangeToSchedule | null }

export type AddOnsInput = {
  readonly held: Purchase
  /** Whether earlier invoices of the product are unpaid. */
  readonly hasDebts: boolean
  /** What discounts took off the price of the newest period of `held`. */
  readonly periodDiscounts: readonly PeriodDiscount[]
  readonly now: Date
}

/**
 * Decides about a change of the quantity of an add-on. Within a period, it is a change of plan to the same plan with other add-ons, and
 * so follows its rules: the difference is charged or credited by the second, and units are never credited, because usage of them can
 * arrive late.
 */
export function decideAddOnChange(input: AddOnsInput, change: AddOnChange): AddOnDecision {
  const { held, now } = input
  const { planSnapshot } = held
  const state = obstacleOfState(held, now)
  if (planSnapshot === null) return refuse('ended')
  if (state !== undefined) return refuse(state)
  const attached = attachedTo(planSnapshot)
  const ahead = addOnsAhead(held)
  if (ahead === undefined) return refuse('change_pending')
  const { reference } = change.addOn
  const most = Math.max(quantityOf(attached, reference), quantityOf(ahead, reference))
  if (change.quantity === 0 && most === 0) return refuse('not_attached')
  const obstacle = change.quantity > most ? attachObstacle(held, planSnapshot, change) : undefined
  if (obstacle !== undefined) return refuse(obstacle)
  return held.status === 'trialing'
    ? decideInTrial(held, planSnapshot, ahead, change)
    : decideRunning(input, planSnapshot, ahead, change)
}

function decideRunning(
  input: AddOnsInput,
  before: PlanSnapshot,
  ahead: readonly AttachedAddOn[],
  change: AddOnChange,
): AddOnDecision {
  const { held, now, hasDebts } = input
  const { nextBillingDate: at, currency } = held
  if (at === null) return refuse('does_not_renew')
  if (at <= now) return refuse('unpaid')
  const own = withoutSetupFee(withoutAddOns(before))
  const running = chargedBefore(attachedTo(before))
  const changed = change.when === 'now' ? withQuantity(running, change, ahead) : running
  const isNow = !isDeepStrictEqual(changed, running)
  const later = withoutChargedFees(withQuantity(ahead, change, changed), changed)
  const next = withAddOns(own, later, currency)
  if (isTooLarge(next, currency)) return refuse('too_many')
  if (!isNow) {
    if (haveSameAddOns(later, ahead)) return { kind: 'unchanged' }
    const isKept = haveSameAddOns(later, running)
    const scheduled = { plan: next, at, termsAt: termsTimeOf(held), isByProvider: true }
    return { kind: 'renewal', at, change: isKept ? null : scheduled }
  }
  if (hasDebts) return refuse('unpaid')
  const plan = withAddOns(own, changed, currency)
  if (isTooLarge(plan, currency)) return refuse('too_many')
  const made = switchAddOns(held, before, plan, now, input.periodDiscounts)
  if (made === undefined) return refuse('only_at_renewal')
  const isKept = haveSameAddOns(attachedTo(next), changed)
  return { kind: 'now', change: made, ahead: isKept ? null : next }
}

/** Returns the add-ons after the renewal, without the set-up fees of those that the running period has, which charges them. */
function withoutChargedFees(
  later: readonly AttachedAddOn[],
  running: readonly AttachedAddOn[],
): AttachedAddOn[] {
  return later.map((each) =>
    quantityOf(running, each.reference) > 0 ? { ...each, setupFee: 0 } : each,
  )
}

/**
 * The trial keeps the units of the plan alone, because the add-on is not paid yet. An add-on that would raise those of the trial waits
 * for the first paid period: a trial that moved to another plan can have scheduled some.
 */
function decideInTrial(
  held: Purchase,
  before: PlanSnapshot,
  ahead: readonly AttachedAddOn[],
  change: AddOnChange,
): AddOnDecision {
  const { currency, nextBillingDate: at } = held
  const own = withoutAddOns(before)
  const attached = attachedTo(before)
  const { reference } = change.addOn
  const waiting = quantityOf(attached, reference) > 0 ? 0 : quantityOf(ahead, reference)
  if (waiting > 0 && change.quantity > waiting) return refuse('trialing')
  const changed = waiting > 0 ? attached : withQuantity(attached, change, [])
  const later = withQuantity(ahead, change, changed)
  if (isDeepStrictEqual(changed, attached) && haveSameAddOns(later, ahead)) {
    return { kind: 'unchanged' }
  }
  const plan = withAddOns(own, changed, currency)
  const next = withAddOns(own, later, currency)
  if (raisesTrial(plan)) return refuse('trialing')
  if (isTooLarge(next, currency)) return refuse('too_many')
  const isKept = at === null || haveSameAddOns(later, changed)
  const scheduled = isKept
    ? null
    : { plan: next, at, termsAt: termsTimeOf(held), isByProvider: true }
  return { kind: 'in-trial', plan, firstIncludedMicros: unitsOfTrial(plan), ahead: scheduled }
}

function attachObstacle(
  { currency }: Purchase,
  plan: PlanSnapshot,
  { addOn, quantity }: AddOnChange,
): AddOnObstacle | undefined {
  const own = withoutAddOns(plan)
  if (addOn.archivedAt !== null) return 'archived'
  if (!addOn.planRefs.includes(plan.reference)) return 'other_plan'
  if (!addOn.raises.every((raise) => isRaisable(own, raise))) return 'other_plan'
  if (addOn.currency !== currency) return 'other_currency'
  const { billingCycle, billingCycleDays = null } = plan.terms
  if (addOn.billingCycle !== billingCycle || addOn.billingCycleDays !== billingCycleDays) {
    return 'other_period'
  }
  if ((pricesIn(own, currency)?.priceMinor ?? 0n) === 0n) return 'free_plan'
  return addOn.quantityMax !== null && quantity > addOn.quantityMax ? 'too_many' : undefined
}

/** Returns whether the plan with its add-ons costs more than one charge can be, or has units that no meter can count. */
function isTooLarge(plan: PlanSnapshot, currency: string): boolean {
  const { priceMinor = 0n, setupFeeMinor = 0n } = pricesIn(plan, currency) ?? {}
  return (
    attachedTo(plan).length > attachedAddOnsMax ||
    exceedsCharge(priceMinor + setupFeeMinor, currency) ||
    exceedsUnits(plan)
  )
}

/**
 * An add-on that the purchase has keeps the terms with which it was attached. `elsewhere`: the add-ons of the other period, running or
 * next, which the purchase may have it in alone.
 */
function withQuantity(
  attached: readonly AttachedAddOn[],
  { addOn, quantity }: AddOnChange,
  elsewhere: readonly AttachedAddOn[],
): AttachedAddOn[] {
  const { reference } = addOn
  if (quantity === 0) return attached.filter((each) => each.reference !== reference)
  if (quantityOf(attached, reference) > 0) {
    return attached.map((each) => (each.reference === reference ? { ...each, quantity } : each))
  }
  const had = elsewhere.find((each) => each.reference === reference)
  if (had !== undefined) return [...attached, { ...had, quantity }]
  const { name, priceMinor: price, setupFeeMinor: setupFee, raises, planRefs } = addOn
  return [...attached, { reference, name, quantity, price, setupFee, raises, planRefs }]
}

function refuse(obstacle: AddOnObstacle): AddOnDecision {
  return { kind: 'refused', obstacle }
}
