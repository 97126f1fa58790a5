import { countInvoiceOf, lockRunningDiscount } from '../coupons/discounts-repository.ts'
import { redeemCoupon } from '../coupons/redeem-coupon.ts'
import type { PaymentIntent } from '../payments/payment-intent.ts'
import { givesAccess } from '../purchases/access.ts'
import { lockPurchase, type Purchase } from '../purchases/repository.ts'
import type { UnitOfWork } from '../unit-of-work/unit-of-work.ts'
import { undeliverable, type Undeliverable } from './payment-handler.ts'

/**
 * Redeems the coupon of a sale for the purchase that begins, and counts the invoice for the discounts that the customer had. Returns
 * why the price is no longer valid: a discount has ended meanwhile, or the coupon has reached a limit, because another payment took its
 * last redemption. The caller has locked the customer and has written nothing yet, so that the payment is refunded.
 */
export async function claimSaleDiscounts(
  work: UnitOfWork,
  sale: Pick<PaymentIntent, 'discounts' | 'customerRef'> &
    Partial<Pick<PaymentIntent, 'createdAt'>>,
  started: Purchase,
  last: Purchase | undefined,
): Promise<Undeliverable | undefined> {
  const { discounts = [], customerRef, createdAt: heldSince } = sale
  if (discounts.length === 0) return undefined
  const { sql, providerId, now } = work
  const replacedRef = last !== undefined && givesAccess(last, now) ? last.reference : null
  // Bills lock the purchase before its discounts.
  if (last !== undefined) await lockPurchase(sql, providerId, last.reference)
  const had = discounts.filter(({ isNew }) => !isNew)
  for (const { discountRef: reference } of had) {
    const running = await lockRunningDiscount(sql, providerId, { customerRef, reference })
    if (running === undefined) return undeliverable('A discount of the price has ended')
  }
  for (const { discountRef, couponRef } of discounts.filter(({ isNew }) => isNew)) {
    const redemption = { couponRef, customerRef, purchaseRef: started.reference, replacedRef }
    const before = { invoicesUsed: 1, heldSince }
    const outcome = await redeemCoupon(work, redemption, discountRef, before)
    if (outcome.kind !== 'redeemed') return undeliverable('The coupon can no longer be redeemed')
  }
  await countInvoiceOf(
    sql,
    providerId,
    had.map(({ discountRef }) => discountRef),
  )
  return undefined
}
