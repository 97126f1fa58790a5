import type { PlanSnapshot } from '@tollgate/domain/plans/plan-snapshot'
import { listedPrice, pricesIn } from '@tollgate/domain/pricing/plan-prices'
import { priceText } from '../purchase-texts.ts'
import type { Reader } from '../reader.ts'

/** Returns the price of a plan in one of its currencies, such as `$49.00 / month`. */
export function planPrice(plan: PlanSnapshot, currency: string, reader: Reader): string {
  const price =
    plan.type === 'hybrid'
      ? (pricesIn(plan, currency)?.priceMinor ?? 0n)
      : listedPrice(plan, currency)
  const priceMinor = Number(price)
  const inCurrency = { ...plan, priceMinor, basePriceMinor: priceMinor, currency }
  return priceText(currency === plan.currency ? plan : inCurrency, reader)
}

/**
 * Like `planPrice`, for display beside the plan's name. A plan that is called Free shows its price as an amount, in the currency of
 * the other plans.
 */
export function planPriceBesideName(
  plan: PlanSnapshot,
  currency: string,
  reader: Reader,
  shownIn = currency,
): string {
  const words = planPrice(plan, currency, reader)
  const isFree = words === reader.t('shared:free')
  const isRepeated = words.toLowerCase() === plan.name.trim().toLowerCase()
  return isFree && isRepeated ? reader.formats.money(0n, shownIn) : words
}
