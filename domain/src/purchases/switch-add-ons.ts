import type { PeriodDiscount } from '../coupons/discount-lines.ts'
import { processorMinimumOf } from '../money/currencies.ts'
import { periodAt, wholeSecond } from '../periods/periods.ts'
import { addOnsPrice, attachedTo, changedUnits } from '../plans/add-ons.ts'
import type { PlanSnapshot } from '../plans/plan-snapshot.ts'
import { addOnChangeLines, setupFeeLines } from '../pricing/charges.ts'
import { totalOf } from '../pricing/invoice-line.ts'
import { cycleOf } from './access.ts'
import type { PlanSwitch } from './decide-switch.ts'
import { planAfterChange } from './offered-plan.ts'
import { paidPriceAt } from './paid-price.ts'
import { prorateUnits } from './prorate-units.ts'
import type { Purchase } from './purchase.ts'
import { switchDiscounts } from './switch-discounts.ts'

/**
 * Returns the change of the running, paid period to the same plan with other add-ons. Undefined if it has to wait for the renewal: it
 * takes away units, which may have been used, or adds units for less than can be charged alone.
 *
 * Price and units of a plan without charges are prorated by time. The units of charges cannot be prorated, so an add-on that raises them
 * is charged from the start of the period, and raises them in full.
 */
export function switchAddOns(
  held: Purchase,
  before: PlanSnapshot,
  wanted: PlanSnapshot,
  at: Date,
  periodDiscounts: readonly PeriodDiscount[],
): PlanSwitch | undefined {
  const { currency } = held
  const cycle = cycleOf(held)
  const units = changedUnits(before, wanted)
  if (cycle === undefined || units === 'fewer') return undefined
  const period = periodAt(cycle, at)
  const plan = planAfterChange(wanted, held, at)
  const isWhole = units === 'more' && plan.terms.charges !== undefined
  const changedAt = isWhole ? period.start : wholeSecond(at)
  const oldMinor = paidPriceAt(held, before, at)
  // The plan keeps the price that was charged for the period, so only the difference of the add-ons is added to that.
  const newMinor = oldMinor + addOnsPrice(attachedTo(wanted)) - addOnsPrice(attachedTo(before))
  const prorated = addOnChangeLines({ oldMinor, newMinor }, plan, period, changedAt)
  const changed = { period, changedAt, planRef: plan.reference, newMinor }
  const { discounts, discountLines } = switchDiscounts(held, changed, periodDiscounts)
  const lines = [...prorated, ...setupFeeLines(plan, currency), ...discountLines]
  const dueMinor = totalOf(lines)
  const isTooSmall = dueMinor > 0n && dueMinor < processorMinimumOf(currency)
  if (isTooSmall && units === 'more') return undefined
  const charged = { oldMinor, newMinor, chargedMinor: totalOf(prorated), period, changedAt }
  return {
    ...{ from: held, plan, period, currency, lines, discounts },
    // Units of charges are the same in each period of a purchase.
    includedMicros:
      plan.terms.charges === undefined ? prorateUnits(held, before, wanted, charged) : null,
    keptMinor: newMinor,
  }
}
