import { microsPerUnit } from '@tollgate/schemas/quantity'
import { usagePeriodAt, type Period } from '../periods/periods.ts'
import { includedMicros, limitsCharges, planOfPeriod } from '../plans/included-units.ts'
import { cycleOf } from './access.ts'
import type { PlanSnapshot } from '../plans/plan-snapshot.ts'
import type { Purchase } from './repository.ts'

/* The price of a plan includes units. A change within a period prorates the units in the same way as the price. */

/** Returns whether the price of the plan includes a limited number of units. */
export function includesUnits(plan: PlanSnapshot): boolean {
  return (includedMicros(plan) ?? 0n) > 0n
}

/**
 * Returns whether the units of a change between the plans can be prorated. Units of charges cannot, so neither of two plans may
 * have some if one of them has charges.
 */
export function isProrated(before: PlanSnapshot, plan: PlanSnapshot): boolean {
  const plans = [before, plan]
  if (plans.every(({ terms }) => terms.charges === undefined)) return true
  return !plans.some((each) => limitsCharges(each) || includesUnits(each))
}

/** Charge of a change for the rest of a period, without a set-up fee. Minor units. */
type ChargedChange = {
  readonly oldMinor: bigint
  readonly newMinor: bigint
  /** The prorated and rounded difference. */
  readonly chargedMinor: bigint
  readonly period: Period
  readonly changedAt: Date
}

/**
 * Returns the units that the prices of the period include after `held` changes to `plan`, 10^-6. Null for as many as `plan`
 * includes. Each plan grants its units for the share of the period that is paid for it. After a plan without a limit, units are
 * counted from the change on.
 */
export function prorateUnits(
  held: Purchase,
  before: PlanSnapshot,
  plan: PlanSnapshot,
  change: ChargedChange,
): bigint | null {
  const [given, next] = [includedMicros(before), includedMicros(plan)]
  if (next === null) return null
  const now = given === null ? 0n : (includedNow(held, before, change.changedAt) ?? 0n)
  const difference = next - (given ?? 0n)
  const { part, whole } = given === null ? shareOfTime(change) : shareOfPrice(change)
  // If both numbers are whole units, the result is too.
  const step = [now, difference].every((micros) => micros % unit === 0n) ? unit : 1n
  const included = now + floor(difference * part, whole * step) * step
  return included > 0n ? included : 0n
}

const unit = BigInt(microsPerUnit)

/** Returns the units that the current period of the purchase includes. An earlier change may have prorated them. */
function includedNow(held: Purchase, before: PlanSnapshot, at: Date): bigint | null {
  const period = usagePeriodAt(cycleOf(held)!, held.startDate, at)
  return includedMicros(planOfPeriod(before, held, period))
}

type Share = { readonly part: bigint; readonly whole: bigint }

/** Returns the share by the rounded price, so that no unit is granted for a fraction that is not charged. */
function shareOfPrice(change: ChargedChange): Share {
  const whole = change.newMinor - change.oldMinor
  return whole > 0n ? { part: change.chargedMinor, whole } : shareOfTime(change)
}

function shareOfTime({ period, changedAt }: ChargedChange): Share {
  return {
    part: BigInt(period.end.getTime() - changedAt.getTime()),
    whole: BigInt(period.end.getTime() - period.start.getTime()),
  }
}

function floor(dividend: bigint, divisor: bigint): bigint {
  const quotient = dividend / divisor
  return dividend % divisor < 0n ? quotient - 1n : quotient
}
