import { isInScope, type Discount } from '../coupons/coupon.ts'
import { findCoupon } from '../coupons/coupons-repository.ts'
import type { CouponFault } from '../coupons/decide-redemption.ts'
import type { DiscountLine } from '../coupons/discount-lines.ts'
import { listDiscountsFor, type DiscountedPurchase } from '../coupons/discounts-repository.ts'
import { findRedemptionFault } from '../coupons/redeem-coupon.ts'
import { generateReference } from '../unit-of-work/generate-reference.ts'
import type { ReadingAt } from '../unit-of-work/unit-of-work.ts'
import type { IntentDiscount } from './payment-intent.ts'

/** The discounts of a sale, oldest first, without the amounts that they take off. */
export type SaleDiscounts = {
  readonly running: readonly Pick<Discount, 'reference' | 'coupon'>[]
  /** The coupon that the customer entered, with the reference of its future discount. */
  readonly entered: Pick<Discount, 'reference' | 'coupon'> | undefined
}

export type ReadSaleDiscounts =
  | ({ readonly kind: 'read' } & SaleDiscounts)
  | { readonly kind: 'fault'; readonly fault: CouponFault }

/** Reads the discounts of a purchase that begins with a payment. `purchaseRef`: the purchase that it replaces. */
export async function readSaleDiscounts(
  at: ReadingAt,
  sale: DiscountedPurchase,
  couponRef: string | undefined,
): Promise<ReadSaleDiscounts> {
  const running = await listDiscountsFor(at.sql, at.providerId, sale)
  if (couponRef === undefined) return { kind: 'read', running, entered: undefined }
  const coupon = await findCoupon(at.sql, at.providerId, couponRef)
  if (coupon === undefined) return { kind: 'fault', fault: 'unknown' }
  const fault = await findRedemptionFault(at, coupon, sale)
  if (fault !== undefined) return { kind: 'fault', fault }
  if (!isInScope(coupon, sale)) return { kind: 'fault', fault: 'out_of_scope' }
  const entered = { reference: generateReference('discount'), coupon }
  return { kind: 'read', running, entered }
}

/** Returns the running discounts and the entered one, in the order in which the invoice lists them. */
export function discountsOfSale({ running, entered }: SaleDiscounts) {
  return entered === undefined ? running : [...running, entered]
}

/** Returns the discounts as they are stored with the payment. */
export function intentDiscountsOf(
  { running, entered }: SaleDiscounts,
  lines: readonly DiscountLine[],
): IntentDiscount[] {
  const coupons = new Map(
    discountsOfSale({ running, entered }).map(({ reference, coupon }) => [reference, coupon]),
  )
  return lines.flatMap(({ discountRef, line: { inputs, description } }): IntentDiscount[] => {
    const couponRef = coupons.get(discountRef)?.reference
    if (inputs.kind !== 'discount' || couponRef === undefined) return []
    const isNew = discountRef === entered?.reference
    return [{ discountRef, couponRef, isNew, inputs, description }]
  })
}
