import { creditValueMinor, creditsPerMinorUnit } from '../money/credits.ts'
import { toFraction, type ExchangeRate } from '../money/exchange-rates.ts'
import type { AutoRecharge, RechargeObstacle } from './repository.ts'
import { minorPerMajor } from '../money/currencies.ts'
import type { Fraction } from '../money/decimal.ts'

export type RechargeFacts = {
  readonly recharge: AutoRecharge
  /** Whole credits. */
  readonly balanceCredits: bigint
  /** Current exchange rate of the threshold's currency. Undefined if it is unknown. */
  readonly thresholdRate: ExchangeRate | undefined
  readonly hasCard: boolean
  readonly now: Date
}

export type RechargeDecision =
  /** The balance is below the threshold: credits are to be bought, if the monthly limit allows it. */
  | { readonly kind: 'buy' }
  | {
      readonly kind: 'wait'
      readonly reason: 'not_active' | 'in_flight' | 'declined' | 'enough' | 'no_card'
    }
  | Obstructed

type Obstructed = { readonly kind: 'obstructed'; readonly obstacle: RechargeObstacle }

/** Decides whether to buy credits for the customer now. */
export function decideRecharge(facts: RechargeFacts): RechargeDecision {
  const { recharge, balanceCredits, thresholdRate, hasCard, now } = facts
  const { status, thresholdMinor, thresholdCurrency } = recharge
  if (status !== 'active') return wait('not_active')
  if (recharge.inFlightPaymentIntentId !== null) return wait('in_flight')
  if (recharge.failureCount > 0 && now.getTime() < recharge.updatedAt.getTime() + declinePauseMs) {
    return wait('declined')
  }
  if (thresholdRate === undefined) return obstructed('exchange_rate_missing')
  const shown = creditValueMinor(balanceCredits, thresholdCurrency, toFraction(thresholdRate))
  if (shown >= thresholdMinor) return wait('enough')
  return hasCard ? { kind: 'buy' } : wait('no_card')
}

/**
 * Decides whether the monthly limit leaves room for the charge, including tax. `capped` means that the charge is
 * possible in another month.
 */
export function decideSpend(
  recharge: AutoRecharge,
  chargeMinor: bigint,
  now: Date,
): { readonly kind: 'charge' } | { readonly kind: 'capped' } | Obstructed {
  const { monthlySpendMaxMinor } = recharge
  if (monthlySpendMaxMinor === null) return { kind: 'charge' }
  if (chargeMinor > monthlySpendMaxMinor) return obstructed('monthly_cap_too_low')
  const spentMinor = spentIn(recharge, monthOf(now))
  return { kind: spentMinor + chargeMinor > monthlySpendMaxMinor ? 'capped' : 'charge' }
}

/**
 * Returns the recharge with the obstacle that was found, or null for none, and whether the owner must be notified. The
 * owner is notified once a month.
 */
export function withObstacle(
  recharge: AutoRecharge,
  obstacle: RechargeObstacle | null,
  now: Date,
): { readonly recharge: AutoRecharge; readonly mustNotify: boolean } {
  const month = monthOf(now)
  const mustNotify = obstacle !== null && recharge.obstacleMonth !== month
  const obstacleMonth = mustNotify ? month : recharge.obstacleMonth
  return { recharge: { ...recharge, obstacle, obstacleMonth }, mustNotify }
}

/** Milliseconds during which a declined card is not charged again, however fast the credits are used up. */
export const declinePauseMs = 600_000

/** Number of consecutive declines after which nothing is charged until the card changes. */
export const declinesMax = 3

export type RechargeResult = {
  readonly isPaid: boolean
  /** Amount including tax. */
  readonly amountMinor: bigint
  /** When the charge began. It counts toward that month's spending. */
  readonly chargedAt: Date
}

export function withRechargeResult(
  recharge: AutoRecharge,
  { isPaid, amountMinor, chargedAt }: RechargeResult,
  now: Date,
): AutoRecharge {
  const settled = {
    ...recharge,
    inFlightPaymentIntentId: null,
    lockAcquiredAt: null,
    updatedAt: now,
  }
  if (isPaid) {
    const month = monthOf(chargedAt)
    return {
      ...settled,
      failureCount: 0,
      lastChargeAt: now,
      monthlySpendMinor: spentIn(recharge, month) + amountMinor,
      monthlySpendPeriod: month,
    }
  }
  const failureCount = recharge.failureCount + 1
  const hasFailed = recharge.status === 'active' && failureCount >= declinesMax
  return { ...settled, failureCount, status: hasFailed ? 'failed' : recharge.status }
}

/** `YYYY-MM`, UTC. */
export function monthOf(at: Date): string {
  return at.toISOString().slice(0, 7)
}

function spentIn({ monthlySpendMinor, monthlySpendPeriod }: AutoRecharge, month: string): bigint {
  return monthlySpendPeriod === month ? monthlySpendMinor : 0n
}

function obstructed(obstacle: RechargeObstacle): Obstructed {
  return { kind: 'obstructed', obstacle }
}

function wait(reason: Extract<RechargeDecision, { kind: 'wait' }>['reason']): RechargeDecision {
  return { kind: 'wait', reason }
}

/** Returns the fewest whole credits whose displayed value is not below the amount. */
export function leastCredits(
  amountMinor: bigint,
  currency: string,
  { numerator, denominator }: Fraction,
): bigint {
  // The displayed value is rounded half up, so half a minor unit less is enough.
  const dividend = (2n * amountMinor - 1n) * creditsPerMinorUnit * 100n * denominator
  const divisor = 2n * numerator * minorPerMajor(currency)
  return (dividend + divisor - 1n) / divisor
}
