import { divideRounded } from '../money/decimal.ts'
import { periodAt, unixSeconds } from '../periods/periods.ts'
import { totalOf } from '../pricing/invoice-line.ts'
import { cycleOf } from './access.ts'
import { paidPriceAt } from './paid-price.ts'
import type { PlanSwitch } from './decide-switch.ts'
import type { Purchase } from './purchase.ts'

/** The amounts of a change of plan within a period, in minor units of its currency. */
export type ChangeShares = {
  /** Price of the rest of the period with the new plan. */
  readonly restMinor: bigint
  /** Value of the rest of the period with the old plan. This amount is credited. */
  readonly unusedMinor: bigint
  readonly setupMinor: bigint
  /** What discounts change: negative if they take more off the new plan. */
  readonly discountMinor: bigint
  /** A negative total is a credit. */
  readonly totalMinor: bigint
}

/**
 * Splits a change of plan into a charge and a credit. The invoice has one line for both, which is rounded once. The charge is
 * therefore computed as the difference to that line, so that both add up to its exact amount.
 */
export function changeSharesOf({ lines }: Pick<PlanSwitch, 'lines'>): ChangeShares {
  const totalMinor = totalOf(lines)
  const line = lines.find(({ inputs }) => inputs.kind === 'proration')
  const discountMinor = totalOf(lines.filter(({ inputs }) => inputs.kind === 'discount'))
  const setupMinor = totalMinor - discountMinor - (line?.amountMinor ?? 0n)
  if (line?.inputs.kind !== 'proration') {
    return { restMinor: 0n, unusedMinor: 0n, setupMinor, discountMinor, totalMinor }
  }
  const { oldMinor, secondsLeft, secondsInPeriod } = line.inputs
  const unusedMinor = divideRounded(BigInt(oldMinor) * BigInt(secondsLeft), BigInt(secondsInPeriod))
  const restMinor = line.amountMinor + unusedMinor
  return { restMinor, unusedMinor, setupMinor, discountMinor, totalMinor }
}

/** The value of paid time that a purchase does not use, because another one replaces it. Minor units of `currency`. */
export type UnusedTime = {
  readonly amountMinor: bigint
  readonly currency: string
  /** Whether the new plan costs that much less now. Otherwise the time is lost. */
  readonly isCredited: boolean
}

/**
 * Returns what happens to the paid time of a purchase that is replaced now. `change` is the change of plan within its period;
 * undefined if the new plan begins a period of its own. Undefined if no paid time is left.
 */
export function unusedTimeOf(
  held: Purchase,
  change: PlanSwitch | undefined,
  now: Date,
): UnusedTime | undefined {
  const { currency } = held
  if (change !== undefined) {
    const amountMinor = changeSharesOf(change).unusedMinor - discountOfUnused(change)
    return amountMinor > 0n ? { amountMinor, currency, isCredited: true } : undefined
  }
  const amountMinor = paidAheadMinor(held, now)
  return amountMinor === undefined ? undefined : { amountMinor, currency, isCredited: false }
}

/** Returns what discounts had taken off the price of the time that is left. */
function discountOfUnused({ lines }: Pick<PlanSwitch, 'lines'>): bigint {
  return lines.reduce((sum, { inputs }) => {
    if (inputs.kind !== 'discount' || inputs.by !== 'proration') return sum
    const { oldMinor, secondsLeft, secondsInPeriod } = inputs
    return sum + divideRounded(BigInt(oldMinor) * BigInt(secondsLeft), BigInt(secondsInPeriod))
  }, 0n)
}

/** Returns the share of the period's price that pays for the time after `now`. Undefined if no time was paid ahead. */
function paidAheadMinor(held: Purchase, now: Date): bigint | undefined {
  const { planSnapshot, status, nextBillingDate, endDate } = held
  const paidUntil = nextBillingDate ?? endDate
  if (planSnapshot === null || status !== 'active') return undefined
  const priceMinor = paidPriceAt(held, planSnapshot, now)
  if (priceMinor === 0n || paidUntil === null || paidUntil <= now) return undefined
  const cycle = cycleOf(held)
  const start = cycle === undefined ? held.startDate : periodAt(cycle, now).start
  const [from, until] = [unixSeconds(start), unixSeconds(paidUntil)]
  const seconds = BigInt(Math.max(1, until - from))
  return divideRounded(priceMinor * BigInt(until - unixSeconds(now)), seconds)
}
