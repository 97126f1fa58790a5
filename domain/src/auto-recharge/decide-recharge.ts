import { displayMinor } from '../money/credits.ts'
import { toFraction, type ExchangeRate } from '../money/exchange-rates.ts'
import type { AutoRecharge } from './repository.ts'

export type RechargeFacts = {
  readonly recharge: AutoRecharge
  /** Whole credits. */
  readonly balanceCredits: bigint
  /** Of the threshold's currency, now; undefined where nobody knows it. */
  readonly thresholdRate: ExchangeRate | undefined
  readonly hasCard: boolean
  readonly now: Date
}

export type RechargeDecision =
  | { readonly kind: 'charge' }
  | {
      readonly kind: 'wait'
      readonly reason:
        'not-active' | 'in-flight' | 'declined' | 'enough' | 'capped' | 'no-card' | 'no-rate'
    }

/** Whether credits are to be bought for the customer now. */
export function decideRecharge(facts: RechargeFacts): RechargeDecision {
  const { recharge, balanceCredits, thresholdRate, hasCard, now } = facts
  const { status, thresholdMinor, thresholdCurrency, topupMinor, monthlySpendMaxMinor } = recharge
  if (status !== 'active') return wait('not-active')
  if (recharge.inFlightPaymentIntentId !== null) return wait('in-flight')
  if (recharge.failureCount > 0 && now.getTime() < recharge.updatedAt.getTime() + declinePauseMs) {
    return wait('declined')
  }
  if (thresholdRate === undefined) return wait('no-rate')
  const shown = displayMinor(balanceCredits, thresholdCurrency, toFraction(thresholdRate))
  if (shown >= thresholdMinor) return wait('enough')
  const spentMinor = spentIn(recharge, monthOf(now))
  if (monthlySpendMaxMinor !== null && spentMinor + topupMinor > monthlySpendMaxMinor) {
    return wait('capped')
  }
  return hasCard ? { kind: 'charge' } : wait('no-card')
}

/** A card that was just turned down is not tried again at once, however fast credits run out. */
export const declinePauseMs = 600_000

/** After so many declines in a row nothing is charged until the card changes. */
export const declinesMax = 3

export type SettledCharge = {
  readonly isPaid: boolean
  readonly amountMinor: bigint
  /** When it was begun: it belongs to that month. */
  readonly chargedAt: Date
}

export function afterRecharge(
  recharge: AutoRecharge,
  { isPaid, amountMinor, chargedAt }: SettledCharge,
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

function wait(reason: Extract<RechargeDecision, { kind: 'wait' }>['reason']): RechargeDecision {
  return { kind: 'wait', reason }
}
