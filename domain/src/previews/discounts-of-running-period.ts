import type { PeriodDiscount } from '../coupons/discount-lines.ts'
import { listDiscountsFor, listPeriodDiscounts } from '../coupons/discounts-repository.ts'
import { discountsOfPrice } from '../invoices/take-discounts.ts'
import type { Purchase } from '../purchases/repository.ts'
import type { ReadingAt } from '../unit-of-work/unit-of-work.ts'
import { discountsAhead } from './discounts-ahead.ts'
import { overdueRenewals } from './plan-bills.ts'
import { chargeOfRenewal } from './plan-renewal.ts'

/**
 * Returns what discounts take off the price of the purchase's newest period. If its renewal is overdue, these are the discounts that
 * the renewal will get.
 */
export async function readDiscountsOfRunningPeriod(
  { sql, providerId, now }: ReadingAt,
  held: Purchase,
): Promise<readonly PeriodDiscount[]> {
  const { reference, customerRef, productRef, currency } = held
  let newest: readonly PeriodDiscount[] = await listPeriodDiscounts(sql, providerId, reference)
  const ahead = discountsAhead({ sql, providerId }, customerRef)
  for (const renewal of overdueRenewals(held, now)) {
    const charge = chargeOfRenewal(renewal.purchase, renewal)
    if (charge === undefined) continue
    const { plan, period, lines: priced } = charge
    const sale = { customerRef, purchaseRef: reference, productRef, planRef: plan.reference }
    const discounts = await listDiscountsFor(sql, providerId, { ...sale, currency })
    const of = { lines: priced, plan, currency, purchaseRef: reference }
    const amounts = discountsOfPrice([...priced, ...(await ahead.linesOf(of, reference))])
    newest = amounts.flatMap(({ discountRef, ...amount }) => {
      const discount = discounts.find((each) => each.reference === discountRef)
      return discount === undefined ? [] : [{ ...amount, discount, periodStart: period.start }]
    })
  }
  return newest
}
