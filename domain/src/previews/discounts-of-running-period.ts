import type { PeriodDiscount } from '../coupons/discount-lines.ts'
import { listDiscountsFor, listPeriodDiscounts } from '../coupons/discounts-repository.ts'
import { discountsOfPrice } from '../invoices/take-discounts.ts'
import type { InvoiceLine } from '../pricing/invoice-line.ts'
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
  const { reference: purchaseRef, customerRef, productRef, currency } = held
  const charges = overdueRenewals(held, now).flatMap(
    (renewal) => chargeOfRenewal(renewal.purchase, renewal) ?? [],
  )
  const newest = charges.at(-1)
  if (newest === undefined) return listPeriodDiscounts(sql, providerId, purchaseRef)
  const ahead = discountsAhead({ sql, providerId }, customerRef)
  let lines: InvoiceLine[] = []
  // Each renewal uses one of the invoices that its discounts have left.
  for (const { plan, lines: priced } of charges) {
    const of = { lines: priced, plan, currency, purchaseRef }
    lines = [...priced, ...(await ahead.linesOf(of, purchaseRef))]
  }
  const { plan, period } = newest
  const sale = { customerRef, purchaseRef, productRef, planRef: plan.reference, currency }
  const discounts = await listDiscountsFor(sql, providerId, sale)
  return discountsOfPrice(lines).flatMap(({ discountRef, ...amount }) => {
    const discount = discounts.find((each) => each.reference === discountRef)
    return discount === undefined ? [] : [{ ...amount, discount, periodStart: period.start }]
  })
}
