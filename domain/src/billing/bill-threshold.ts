import type { Queryable } from '@tollgate/platform/database/database'
import { minorPerMajor } from '../money/currencies.ts'
import { findExchangeRate, toFraction, type ExchangeRate } from '../money/exchange-rates.ts'
import { chargeMinMinor } from '../money/processor-amounts.ts'
import { billsWithinPeriods } from '../plans/bill-threshold.ts'
import type { Purchase } from '../purchases/repository.ts'

/**
 * Returns the amount of unbilled usage at which a running period of the purchase is billed, in minor units of the purchase's
 * currency. Undefined if its plan has none, or a currency has no exchange rate: nothing can be charged in it then.
 */
export async function readBillThreshold(
  { sql, providerId }: { readonly sql: Queryable; readonly providerId: string },
  { planSnapshot: plan, currency }: Pick<Purchase, 'planSnapshot' | 'currency'>,
): Promise<bigint | undefined> {
  if (plan === null || !billsWithinPeriods(plan)) return undefined
  const amountMinor = BigInt(plan.terms.billAtUnbilledMinor ?? 0)
  if (currency === plan.currency) return amountMinor
  const from = await findExchangeRate(sql, providerId, plan.currency)
  const to = await findExchangeRate(sql, providerId, currency)
  if (from === undefined || to === undefined) return undefined
  const converted = convertUp(amountMinor, from, to)
  const least = chargeMinMinor(currency)
  return converted < least ? least : converted
}

/** Converts an amount from one currency to another, and rounds up. */
function convertUp(amountMinor: bigint, from: ExchangeRate, to: ExchangeRate): bigint {
  const [sold, bought] = [toFraction(from), toFraction(to)]
  const dividend = amountMinor * bought.numerator * sold.denominator * minorPerMajor(to.currency)
  const divisor = bought.denominator * sold.numerator * minorPerMajor(from.currency)
  return (dividend + divisor - 1n) / divisor
}
