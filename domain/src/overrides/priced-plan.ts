import type { AgreedPrice, PriceFields, RampStep } from '@tollgate/schemas/http/agreed-prices'
import { withOwnPrices } from '../catalog/own-prices.ts'
import { periodIndexAt, wholeSecond, type CycleMode } from '../periods/periods.ts'
import { changeOwn } from '../plans/add-ons.ts'
import type { PlanSnapshot } from '../plans/plan-snapshot.ts'
import { applyOverrides } from './apply-overrides.ts'
import { overridesAt, type Overrides, type OverridesVersion } from './overrides.ts'

/*
 * The prices that a plan has in a period. A ramp of the plan comes first, then the overrides of the customer, then the prices that are
 * agreed with the customer, and the ramp of these last. A later one replaces only the fields that it has. What was in force when the
 * period began holds for the whole period, so no change moves an amount that was billed.
 */

/** The fields of a purchase that decide where a period is in a ramp. */
export type RampedPurchase = {
  /** Earlier than the anchor if the purchase began with a trial, which is no period of a ramp. */
  readonly startDate: Date
  readonly anchor: Date
  readonly cycleMode: CycleMode
}

/** When a period begins, and how many periods of a ramp come before it. */
export type PricedPeriod = { readonly start: Date; readonly rampPeriods: number }

/** Returns the start of the first period of the purchase. A trial is no period. */
export function firstPeriodStart({
  startDate,
  anchor,
}: Pick<RampedPurchase, 'startDate' | 'anchor'>): Date {
  return startDate < anchor ? anchor : startDate
}

/** Returns the number of periods of a ramp before the one that contains the instant. */
export function rampPeriodsBefore(
  purchase: RampedPurchase,
  { terms, rampPeriods = 0 }: Pick<PlanSnapshot, 'terms' | 'rampPeriods'>,
  instant: Date,
): number {
  const { billingCycle, billingCycleDays: customDays } = terms
  if (billingCycle === undefined) return rampPeriods
  const { anchor, cycleMode: mode } = purchase
  const cycle = { anchor, mode, billingCycle, customDays }
  const first = periodIndexAt(cycle, firstPeriodStart(purchase))
  return rampPeriods + Math.max(0, periodIndexAt(cycle, instant) - first)
}

/**
 * Returns the plan with the prices of the period, and `listed` as the plan that everybody buys. Returns the given plan if it has no
 * other prices. `limiting` decides caps and limits. Prices and units of add-ons are added to those of the plan.
 */
export function pricedPlan<Plan extends PlanSnapshot>(
  given: Plan,
  versions: readonly OverridesVersion[],
  period: PricedPeriod,
  limiting?: Overrides,
): Plan {
  return changeOwn(given, (own) => pricedOwn(own, versions, period, limiting))
}

function pricedOwn<Plan extends PlanSnapshot>(
  given: Plan,
  versions: readonly OverridesVersion[],
  { start, rampPeriods }: PricedPeriod,
  limiting: Overrides | undefined,
): Plan {
  const listed = { ...given, ...given.listed, listed: undefined }
  const pricing = overridesAt(versions, start)
  const agreed = agreedPriceAt(pricing.prices, listed, start)
  const step = rampStepAt(listed.terms.ramp, rampPeriods)
  if (step === undefined && versions.length === 0) return given
  const stepped = withPrices(listed, step, listed)
  const overridden = applyOverrides(stepped, { pricing, limiting: limiting ?? pricing }).plan
  // The overrides have changed no field.
  if (overridden === listed && agreed === undefined) return given
  const ofCustomer = withPrices(overridden, agreed, listed)
  const priced = withPrices(ofCustomer, rampStepAt(agreed?.ramp, rampPeriods), listed)
  return { ...priced, listed: given.listed ?? given }
}

function withPrices<Plan extends PlanSnapshot>(
  plan: Plan,
  prices: PriceFields | undefined,
  listed: PlanSnapshot,
): Plan {
  return prices === undefined ? plan : withOwnPrices(plan, prices, listed).plan
}

/** Returns the prices of the plan that are agreed for a period that begins then. */
function agreedPriceAt(
  prices: readonly AgreedPrice[] = [],
  plan: Pick<PlanSnapshot, 'reference' | 'currency'>,
  start: Date,
): AgreedPrice | undefined {
  const startMs = start.getTime()
  return prices.find(
    ({ from, until, ...price }) =>
      isPriceOf(price, plan) &&
      (from === undefined || Date.parse(from) <= startMs) &&
      (until === undefined || startMs < Date.parse(until)),
  )
}

/**
 * Returns whether the amounts are of the plan and in its currency. Prices of a plan that no longer existed when currencies were first
 * stored have none, and are in that of the plan.
 */
export function isPriceOf(
  { planRef, currency }: Pick<AgreedPrice, 'planRef' | 'currency'>,
  plan: Pick<PlanSnapshot, 'reference' | 'currency'>,
): boolean {
  return planRef === plan.reference && (currency ?? plan.currency) === plan.currency
}

/** Returns the step of the ramp after that many periods. Undefined without a ramp, and after its last step. */
function rampStepAt(ramp: readonly RampStep[] = [], periodsBefore: number): RampStep | undefined {
  let end = 0
  return ramp.find(({ periods }) => {
    end += periods
    return periodsBefore < end
  })
}

/** Returns an offered plan with the prices of a period that begins later. `periods`: those that the customer has had until then. */
export function offeredPlanAhead<Plan extends PlanSnapshot>(
  plan: Plan,
  versions: readonly OverridesVersion[],
  at: Date,
  periods: number,
): Plan {
  return offeredPlan(plan, versions, at, ((plan.listed ?? plan).rampPeriods ?? 0) + periods)
}

/**
 * Returns the plan as it is offered to a customer with these overrides, with the prices of a period that begins now.
 * `rampPeriods`: periods of the ramp that the customer had before. Undefined for a customer who never had the plan.
 */
export function offeredPlan<Plan extends PlanSnapshot>(
  plan: Plan,
  versions: readonly OverridesVersion[],
  now: Date,
  rampPeriods?: number,
): Plan {
  const listed = { ...plan, ...plan.listed, listed: undefined, rampPeriods: undefined }
  const start = wholeSecond(now)
  const counted = rampPeriods === undefined ? listed : { ...listed, rampPeriods }
  return pricedPlan(counted, versions, { start, rampPeriods: rampPeriods ?? 0 })
}
