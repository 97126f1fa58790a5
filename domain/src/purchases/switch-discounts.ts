import { isInScope } from '../coupons/coupon.ts'
import {
  changedDiscounts,
  proratedDiscountLines,
  type ChangedDiscount,
  type PeriodDiscount,
} from '../coupons/discount-lines.ts'
import { unixSeconds, type Period } from '../periods/periods.ts'
import type { InvoiceLine } from '../pricing/invoice-line.ts'
import type { Purchase } from './purchase.ts'

/** A change of the running period to another price, from `changedAt` to the end of the period. */
type ChangedPrice = {
  readonly period: Period
  /** A whole second. */
  readonly changedAt: Date
  readonly planRef: string
  /** Price of the whole period after the change, in minor units. */
  readonly newMinor: bigint
}

/** Returns the discounts of the running period after the change, and the lines by which they correct the prorated difference. */
export function switchDiscounts(
  held: Purchase,
  { period, changedAt, planRef, newMinor }: ChangedPrice,
  periodDiscounts: readonly PeriodDiscount[],
): { readonly discounts: ChangedDiscount[]; readonly discountLines: InvoiceLine[] } {
  const discounts = changedDiscounts(
    discountsOfPeriod(periodDiscounts, period),
    newMinor,
    (coupon) => isInScope(coupon, { ...held, planRef }),
  )
  const discountLines = proratedDiscountLines(discounts, {
    secondsLeft: unixSeconds(period.end) - unixSeconds(changedAt),
    secondsInPeriod: unixSeconds(period.end) - unixSeconds(period.start),
  })
  return { discounts, discountLines }
}

/** Returns the discounts of this period. */
export function discountsOfPeriod(
  discounts: readonly PeriodDiscount[],
  { start }: Pick<Period, 'start'>,
): PeriodDiscount[] {
  return discounts.filter(({ periodStart }) => periodStart.getTime() === start.getTime())
}
