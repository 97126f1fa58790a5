import { microsPerUnit } from '@tollgate/schemas/quantity'
import { usagePeriodAt, type Period } from '../periods/periods.ts'
import { includedMicros, planOfPeriod } from '../plans/included-units.ts'
import { cycleOf } from './access.ts'
import type { PlanSnapshot } from '../plans/plan-snapshot.ts'
import type { Purchase } from './repository.ts'

/* The price of a plan includes units. A change within a period shares them out as it shares out the price. */

/** Whether the price of the plan includes a number of units, so that using them all is using what was paid for. */
export function includesUnits(plan: PlanSnapshot): boolean {
  return (includedMicros(plan) ?? 0n) > 0n
}

/** What a change charges for the rest of a period, without a set-up fee. Minor units. */
type ChargedChange = {
  readonly oldMinor: bigint
  readonly newMinor: bigint
  /** The share of the difference, rounded. */
  readonly chargedMinor: bigint
  readonly period: Period
  readonly changedAt: Date
}

/**
 * Units that the prices of the period include once `held` changes to `plan`, 10^-6; null: as many as `plan` includes. Each
 * plan gives its units for the share of the period that is paid for it. After a plan without a limit they are counted from
 * the change on.
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
  // Plans of whole units stay so.
  const step = [now, difference].every((micros) => micros % unit === 0n) ? unit : 1n
  const included = now + floor(difference * part, whole * step) * step
  return included > 0n ? included : 0n
}

const unit = BigInt(microsPerUnit)

/** What the running period of the purchase includes, which a change may have shared out before. */
function includedNow(held: Purchase, before: PlanSnapshot, at: Date): bigint | null {
  const period = usagePeriodAt(cycleOf(held)!, held.startDate, at)
  return includedMicros(planOfPeriod(before, held, period))
}

type Share = { readonly part: bigint; readonly whole: bigint }

/** Rounded with the price: no unit is given for a cent that is not charged. */
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
