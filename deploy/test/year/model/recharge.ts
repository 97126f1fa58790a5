import { priceOfCredits, withTax, type ModelCurrency, type ModelTax } from './money.ts'

/* Automatic top-ups (3.12). Amounts are minor units of the seller's currency. */

export type RechargeTerms = {
  /** Value of the balance below which credits are bought. */
  readonly threshold: bigint
  readonly topUp: bigint
  /** Monthly cap including tax. */
  readonly cap: bigint | undefined
}

export type ModelRecharge = RechargeTerms & {
  status: 'active' | 'failed' | 'pending_setup'
  failures: number
  spent: bigint
  /** Month of `spent` as `YYYY-MM`. Amounts of earlier months are dropped. */
  month: string | null
}

/** Consecutive declines after which top-ups wait for another card. */
const failuresMax = 3

/** Sets the terms of automatic top-ups. This resets declines, but keeps the monthly total. */
export function setRechargeTerms(
  terms: RechargeTerms,
  before: ModelRecharge | undefined,
): ModelRecharge {
  const { spent = 0n, month = null } = before ?? {}
  return { ...terms, status: 'active', failures: 0, spent, month }
}

export function isRechargeDue(
  { status, threshold, topUp, cap, ...recharge }: ModelRecharge,
  credits: number,
  currency: ModelCurrency,
  tax: ModelTax | undefined,
  at: number,
): boolean {
  if (status !== 'active' || priceOfCredits(BigInt(credits), currency) >= threshold) return false
  return cap === undefined || spentIn(recharge, monthOf(at)) + withTax(topUp, tax) <= cap
}

/** Returns whether the monthly cap allows at least one top-up with its tax. */
export function fitsMonthlyCap({ topUp, cap }: RechargeTerms, tax: ModelTax | undefined): boolean {
  return cap === undefined || withTax(topUp, tax) <= cap
}

export function recordRecharge(
  recharge: ModelRecharge,
  isPaid: boolean,
  tax: ModelTax | undefined,
  at: number,
): void {
  if (isPaid) {
    const month = monthOf(at)
    const spent = spentIn(recharge, month) + withTax(recharge.topUp, tax)
    Object.assign(recharge, { failures: 0, spent, month })
    return
  }
  recharge.failures += 1
  if (recharge.failures >= failuresMax) recharge.status = 'failed'
}

function spentIn({ spent, month }: Pick<ModelRecharge, 'spent' | 'month'>, now: string): bigint {
  return month === now ? spent : 0n
}

function monthOf(at: number): string {
  return new Date(at).toISOString().slice(0, 7)
}
