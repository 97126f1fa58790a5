import { priceOfCredits, withTax, type ModelCurrency, type ModelTax } from './money.ts'

/* Automatic top-ups (3.12). Amounts are minor units of the seller's currency. */

export type RechargeTerms = {
  /** Credits are bought while those that are left are worth less. */
  readonly threshold: bigint
  readonly topUp: bigint
  /** Of a month, with tax. */
  readonly cap: bigint | undefined
}

export type ModelRecharge = RechargeTerms & {
  status: 'active' | 'failed' | 'pending_setup'
  failures: number
  spent: bigint
  /** `YYYY-MM`; what was spent before is forgotten. */
  month: string | null
}

/** Declines in a row, after which another card is waited for. */
const failuresMax = 3

/** What is asked for anew forgives declines, and forgets nothing of the month. */
export function recharge(terms: RechargeTerms, before: ModelRecharge | undefined): ModelRecharge {
  const { spent = 0n, month = null } = before ?? {}
  return { ...terms, status: 'active', failures: 0, spent, month }
}

export function isWanted(
  { status, threshold, topUp, cap, ...recharge }: ModelRecharge,
  credits: number,
  currency: ModelCurrency,
  tax: ModelTax | undefined,
  at: number,
): boolean {
  if (status !== 'active' || priceOfCredits(BigInt(credits), currency) >= threshold) return false
  return cap === undefined || spentIn(recharge, monthOf(at)) + withTax(topUp, tax) <= cap
}

/** A month must have room for one top-up with its tax. */
export function canBeHad({ topUp, cap }: RechargeTerms, tax: ModelTax | undefined): boolean {
  return cap === undefined || withTax(topUp, tax) <= cap
}

export function charged(
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
