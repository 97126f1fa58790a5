import { divideRounded } from '@tollgate/domain/money/decimal'
import { totalOf } from '@tollgate/domain/pricing/invoice-line'
import { pricesIn } from '@tollgate/domain/pricing/plan-prices'
import type { PlanSwitch } from '@tollgate/domain/purchases/decide-switch'
import type { Purchase } from '@tollgate/domain/purchases/repository'
import type { Reader } from '../reader.ts'

/** The amounts of a change of plan within a period, in minor units of its currency. */
export type ChangeShares = {
  /** Price of the rest of the period with the new plan. */
  readonly restMinor: bigint
  /** Value of the rest of the period with the old plan. This amount is credited. */
  readonly unusedMinor: bigint
  readonly setupMinor: bigint
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
  if (line?.inputs.kind !== 'proration') {
    return { restMinor: 0n, unusedMinor: 0n, setupMinor: totalMinor, totalMinor }
  }
  const { oldMinor, secondsLeft, secondsInPeriod } = line.inputs
  const unusedMinor = divideRounded(BigInt(oldMinor) * BigInt(secondsLeft), BigInt(secondsInPeriod))
  const restMinor = line.amountMinor + unusedMinor
  return { restMinor, unusedMinor, setupMinor: totalMinor - line.amountMinor, totalMinor }
}

/** Returns which plan ends when the chosen one starts, and what happens to its unused time. */
export function replacedText(
  held: Purchase,
  change: PlanSwitch | undefined,
  now: Date,
  { t, formats }: Pick<Reader, 't' | 'formats'>,
): string {
  const plan = held.planSnapshot?.name ?? held.productName
  if (change !== undefined) {
    const { unusedMinor } = changeSharesOf(change)
    const amount = formats.money(unusedMinor, change.currency)
    return unusedMinor > 0n
      ? t('checkout:replacesWithCredit', { plan, amount })
      : t('checkout:replacesToday', { plan })
  }
  return isPaidAhead(held, now)
    ? t('checkout:replacesWithoutCredit', { plan })
    : t('checkout:replacesToday', { plan })
}

/** Returns whether the purchase has unused time that was paid for. */
function isPaidAhead(held: Purchase, now: Date): boolean {
  const { planSnapshot, currency, status, nextBillingDate, endDate } = held
  const paidUntil = nextBillingDate ?? endDate
  if (planSnapshot === null || status !== 'active') return false
  const priceMinor = pricesIn(planSnapshot, currency)?.priceMinor ?? 0n
  return priceMinor > 0n && paidUntil !== null && paidUntil > now
}
