import type { Charge } from '@tollgate/schemas/http/charges'
import type { AddOnRaise } from '@tollgate/schemas/http/add-on-terms'
import { microsFromNumber, numberFromMicros } from '@tollgate/schemas/quantity'
import { quantityMax } from '@tollgate/schemas/limits'
import { includedMicros } from './included-units.ts'
import type { AttachedAddOn, PlanTerms } from './plan.ts'
import type { PlanSnapshot } from './plan-snapshot.ts'

/*
 * The terms of a purchase contain its add-ons: their prices are part of the price, and their units are part of the limits and the
 * included units. So whatever prices, limits, refunds or changes a plan does the same for its add-ons.
 */

/** Returns the add-ons of a purchase's plan, in the order in which they were attached. */
export function attachedTo(plan: PlanSnapshot | null): readonly AttachedAddOn[] {
  return plan?.terms.addOns?.attached ?? []
}

/** Returns the quantity of the add-on with the reference, or 0 if it is not among them. */
export function quantityOf(attached: readonly AttachedAddOn[], reference: string): number {
  return attached.find((each) => each.reference === reference)?.quantity ?? 0
}

/** Returns the plan without its add-ons. */
export function withoutAddOns<Plan extends PlanSnapshot>(plan: Plan): Plan {
  const { listed, terms } = plan
  if (terms.addOns === undefined) return plan
  const own = { ...plan, ...terms.addOns.own }
  return listed === undefined ? own : { ...own, listed: withoutAddOns(listed) }
}

/**
 * Returns the plan with a change of its own prices and units. The add-ons keep theirs, also if the change leaves nothing of what they
 * raise. The same plan if nothing changes.
 */
export function changeOwn<Plan extends PlanSnapshot>(
  plan: Plan,
  change: (own: Plan) => Plan,
): Plan {
  const { addOns } = plan.terms
  if (addOns === undefined) return change(plan)
  const own = withoutAddOns(plan)
  const changed = change(own)
  return changed === own ? plan : withAddOns(changed, addOns.attached, addOns.currency, own)
}

/** Returns the plan with exactly these add-ons, whose prices are in the currency. `raised` decides which of its fields they raise. */
export function withAddOns<Plan extends PlanSnapshot>(
  plan: Plan,
  attached: readonly AttachedAddOn[],
  currency: string,
  raised: PlanSnapshot = withoutAddOns(plan),
): Plan {
  const own = withoutAddOns(plan)
  if (attached.length === 0) return own
  const { priceMinor, basePriceMinor, setupFeeMinor, listed } = own
  const terms = attached.reduce(
    (before, { raises, quantity }) =>
      raises.reduce(
        (each, raise) => raisedTerms({ ...own, terms: each }, raise, quantity, raised),
        before,
      ),
    own.terms,
  )
  const alone = { priceMinor, basePriceMinor, setupFeeMinor, terms: own.terms }
  const priced = pricedWith(
    { ...own, terms: { ...terms, addOns: { currency, own: alone, attached } } },
    attached,
    currency,
  )
  return listed === undefined
    ? priced
    : { ...priced, listed: withAddOns(listed, attached, currency) }
}

/** Returns what the add-ons cost for a period. Minor units. */
export function addOnsPrice(attached: readonly AttachedAddOn[]): bigint {
  return attached.reduce((sum, { price, quantity }) => sum + BigInt(price) * BigInt(quantity), 0n)
}

/** Returns the set-up fees that the next charge contains for the add-ons. Minor units. */
export function addOnsSetupFee(attached: readonly AttachedAddOn[]): bigint {
  return attached.reduce((sum, { setupFee }) => sum + BigInt(setupFee), 0n)
}

/** Returns the add-ons without set-up fees, because those have been charged. */
export function chargedBefore(attached: readonly AttachedAddOn[]): AttachedAddOn[] {
  return attached.map((each) => ({ ...each, setupFee: 0 }))
}

/** A plan has one price for each currency, and a purchase has one currency. */
function pricedWith<Plan extends PlanSnapshot>(
  plan: Plan,
  attached: readonly AttachedAddOn[],
  currency: string,
): Plan {
  const [price, fee] = [Number(addOnsPrice(attached)), Number(addOnsSetupFee(attached))]
  if (currency === plan.currency) {
    return {
      ...plan,
      priceMinor: plan.priceMinor + price,
      basePriceMinor: plan.basePriceMinor === null ? null : plan.basePriceMinor + price,
      setupFeeMinor: (plan.setupFeeMinor ?? 0) + fee,
    }
  }
  const pricingOptions = plan.terms.pricingOptions?.map((option) =>
    option.currency !== currency
      ? option
      : {
          ...option,
          price: option.price + price,
          ...(option.basePrice === undefined ? {} : { basePrice: option.basePrice + price }),
          setupFee: (option.setupFee ?? 0) + fee,
        },
  )
  if (pricingOptions === undefined) return plan
  return { ...plan, terms: { ...plan.terms, pricingOptions } }
}

/** Returns the terms with the units that the add-ons raise. A raise that the plan has no field for has no effect. */
function raisedTerms(
  plan: PlanSnapshot,
  raise: AddOnRaise,
  quantity: number,
  raised: PlanSnapshot,
): PlanTerms {
  const { terms } = plan
  const added = BigInt(raise.units) * BigInt(quantity) * microsPerUnit
  if (terms.charges !== undefined) {
    const charges = terms.charges.map((charge, at) =>
      isRaised(raised.terms.charges?.[at] ?? charge, raise)
        ? raisedCharge(charge, raise, added)
        : charge,
    )
    return { ...terms, charges }
  }
  if (!isPlanRaised(raised, raise)) return terms
  const { limit = 0, freeUnits } = terms
  // Without overage the limit is a hard cap. Included units above it could not be used.
  const movesLimit =
    raise.raises === 'limit' || (limit > 0 && terms.overagePolicy?.allowOverage !== true)
  const changed: PlanTerms = {
    ...terms,
    ...(movesLimit ? { limit: sum(limit, added) } : {}),
    ...(raise.raises === 'included' ? { freeUnits: sum(freeUnits ?? 0, added) } : {}),
  }
  if (terms.maxUnbilledUnits === undefined) return changed
  const included =
    (includedMicros({ ...plan, terms: changed }) ?? 0n) - (includedMicros(plan) ?? 0n)
  return { ...changed, maxUnbilledUnits: sum(terms.maxUnbilledUnits, included) }
}

/** Returns whether the plan has what the add-on raises: a limit, or units of the meter that its price includes. */
export function isRaisable(plan: PlanSnapshot, raise: AddOnRaise): boolean {
  const { charges } = plan.terms
  return charges?.some((charge) => isRaised(charge, raise)) ?? isPlanRaised(plan, raise)
}

function isPlanRaised({ type, terms }: PlanSnapshot, { meter, raises }: AddOnRaise): boolean {
  if (meter !== 'requests') return false
  return raises === 'limit' ? (terms.limit ?? 0) > 0 : type === 'hybrid'
}

/** At most one charge of a meter has included units, and one has a cap. */
function isRaised({ meter, included = 0, cap = 0 }: Charge, raise: AddOnRaise): boolean {
  return meter === raise.meter && (raise.raises === 'limit' ? cap : included) > 0
}

/** Included units above the cap could not be used, so the cap rises with them. */
function raisedCharge(charge: Charge, { raises }: AddOnRaise, added: bigint): Charge {
  const { included = 0, cap = 0 } = charge
  // A customer may have no cap in place of that of the plan.
  if (raises === 'limit') return cap === 0 ? charge : { ...charge, cap: sum(cap, added) }
  const raisedCap = cap > 0 ? { cap: sum(cap, added) } : {}
  return { ...charge, included: sum(included, added), ...raisedCap }
}

const microsPerUnit = 1_000_000n

function sum(units: number, addedMicros: bigint): number {
  return numberFromMicros(BigInt(microsFromNumber(units) ?? 0) + addedMicros)
}

/**
 * Returns how the add-ons change the units of the plan. `fewer` if any of its limits or included units is lower afterwards. Both plans
 * are the same but for their add-ons.
 */
export function changedUnits(before: PlanSnapshot, after: PlanSnapshot): 'same' | 'more' | 'fewer' {
  const [from, to] = [raisedNumbers(before), raisedNumbers(after)]
  if (from.some((units, at) => units > to[at]!)) return 'fewer'
  return from.some((units, at) => units < to[at]!) ? 'more' : 'same'
}

/** Returns whether the add-ons raise a number beyond what a meter can count. It would have no effect, and be no limit. */
export function exceedsUnits(plan: PlanSnapshot): boolean {
  return raisedNumbers(plan).some((units) => units > quantityMax)
}

function raisedNumbers({
  terms: { limit = 0, freeUnits = 0, charges = [] },
}: PlanSnapshot): number[] {
  return [limit, freeUnits, ...charges.flatMap(({ included = 0, cap = 0 }) => [included, cap])]
}
