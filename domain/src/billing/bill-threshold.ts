import { minorPerMajor } from '../money/currencies.ts'
import { fractionOf } from '../money/decimal.ts'
import { chargeMinMinor } from '../money/processor-amounts.ts'
import { billsWithinPeriods } from '../plans/bill-threshold.ts'
import type { CreditConversion } from '../pricing/line-inputs.ts'
import type { Purchase } from '../purchases/repository.ts'
import { readCreditConversion } from './credit-conversion.ts'

/**
 * Returns the amount of unbilled usage at which a running period of the purchase is billed, in minor units of the purchase's
 * currency. Undefined if its plan has none.
 */
export async function readBillThreshold(
  at: Parameters<typeof readCreditConversion>[0],
  { planSnapshot: plan, currency }: Pick<Purchase, 'planSnapshot' | 'currency'>,
): Promise<bigint | undefined> {
  if (plan === null || !billsWithinPeriods(plan)) return undefined
  const amountMinor = BigInt(plan.terms.billAtUnbilledMinor ?? 0)
  if (currency === plan.currency) return amountMinor
  const [from, to] = [
    await readCreditConversion(at, plan.currency),
    await readCreditConversion(at, currency),
  ]
  const converted = convertUp(amountMinor, from, to)
  const least = chargeMinMinor(currency)
  return converted < least ? least : converted
}

/** Converts an amount from one currency to another, and rounds up. */
function convertUp(amountMinor: bigint, from: CreditConversion, to: CreditConversion): bigint {
  const [sold, bought] = [fractionOf(from.unitsPerDollar), fractionOf(to.unitsPerDollar)]
  const dividend = amountMinor * bought.numerator * sold.denominator * minorPerMajor(to.currency)
  const divisor = bought.denominator * sold.numerator * minorPerMajor(from.currency)
  return (dividend + divisor - 1n) / divisor
}
