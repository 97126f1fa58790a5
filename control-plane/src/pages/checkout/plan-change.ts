import { divideRounded } from '@tollgate/domain/money/decimal'
import { totalOf } from '@tollgate/domain/pricing/invoice-line'
import { pricesIn } from '@tollgate/domain/pricing/plan-prices'
import type { PlanSwitch } from '@tollgate/domain/purchases/decide-switch'
import type { Purchase } from '@tollgate/domain/purchases/repository'
import type { Reader } from '../reader.ts'

/** What a change of plan within a period comes to, in minor units of its currency. */
export type ChangeShares = {
  /** What the rest of the period costs with the new plan. */
  readonly restMinor: bigint
  /** What the rest of the period was worth with the plan that ends: given back. */
  readonly unusedMinor: bigint
  readonly setupMinor: bigint
  /** Negative: a credit. */
  readonly totalMinor: bigint
}

/**
 * Splits a change of plan into what is charged and what is given back. The invoice has one line for both, which is rounded
 * once: the charge is what is left of that line, so that the shares come to its amount exactly.
 */
export function sharesOf({ lines }: Pick<PlanSwitch, 'lines'>): ChangeShares {
  const totalMinor = totalOf(lines)
  const line = lines.find(({ inputs }) => inputs.kind === 'proration')
  if (line?.inputs.kind !== 'proration') {
    return { restMinor: 0n, unusedMinor: 0n, setupMinor: totalMinor, totalMinor }
  }
  const { oldMinor, secondsLeft, secondsInPeriod } = line.inputs
  const unusedMinor = divideRounded(BigInt(oldMinor) * BigInt(secondsLeft), BigInt(secondsInPeriod))
  const restMinor = line.amountMinor + unusedMinor
  return { restMinor, unusedMinor, setupMinor: totalMinor - line.amountMinor, totalMinor }
}

/** Says what ends when the chosen plan begins, and what becomes of its unused time. */
export function replacedWords(
  held: Purchase,
  change: PlanSwitch | undefined,
  now: Date,
  { t, formats }: Pick<Reader, 't' | 'formats'>,
): string {
  const plan = held.planSnapshot?.name ?? held.productName
  if (change !== undefined) {
    const { unusedMinor } = sharesOf(change)
    const amount = formats.money(unusedMinor, change.currency)
    return unusedMinor > 0n
      ? t('checkout:replacesWithCredit', { plan, amount })
      : t('checkout:replacesToday', { plan })
  }
  return isPaidAhead(held, now)
    ? t('checkout:replacesWithoutCredit', { plan })
    : t('checkout:replacesToday', { plan })
}

/** Whether time that was paid for would be left. */
function isPaidAhead(held: Purchase, now: Date): boolean {
  const { planSnapshot, currency, status, nextBillingDate, endDate } = held
  const paidUntil = nextBillingDate ?? endDate
  if (planSnapshot === null || status !== 'active') return false
  const priceMinor = pricesIn(planSnapshot, currency)?.priceMinor ?? 0n
  return priceMinor > 0n && paidUntil !== null && paidUntil > now
}
