import type { PlanSnapshot } from '@tollgate/domain/plans/plan-snapshot'
import { listedPrice, pricesIn } from '@tollgate/domain/pricing/plan-prices'
import { priceWords } from '../purchase-words.ts'
import type { Reader } from '../reader.ts'

/** Returns what a plan costs in a currency that it is sold in: `$49.00 / month`. */
export function planPrice(plan: PlanSnapshot, currency: string, reader: Reader): string {
  const price =
    plan.type === 'hybrid'
      ? (pricesIn(plan, currency)?.priceMinor ?? 0n)
      : listedPrice(plan, currency)
  const priceMinor = Number(price)
  const inCurrency = { ...plan, priceMinor, basePriceMinor: priceMinor, currency }
  return priceWords(currency === plan.currency ? plan : inCurrency, reader)
}

/**
 * The same beside the plan's name: a plan that is called Free says its price as an amount, in the currency that the other
 * plans are shown in.
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
