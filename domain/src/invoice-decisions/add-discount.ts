import { lockCustomer } from '../customers/repository.ts'
import { lockPurchase } from '../purchases/repository.ts'
import { generateReference } from '../unit-of-work/generate-reference.ts'
import type { UnitOfWork } from '../unit-of-work/unit-of-work.ts'
import { redeemCoupon, type Redemption, type RedeemOutcome } from '../coupons/redeem-coupon.ts'

/** Gives a customer the discount of a coupon, for all invoices or those of one purchase. */
export async function addDiscount(
  work: UnitOfWork,
  redemption: Redemption,
): Promise<RedeemOutcome | { readonly kind: 'purchase-not-found' | 'customer-not-found' }> {
  const { sql, providerId } = work
  const { customerRef, purchaseRef } = redemption
  if ((await lockCustomer(sql, providerId, customerRef)) === undefined) {
    return { kind: 'customer-not-found' }
  }
  if (purchaseRef !== null) {
    const purchase = await lockPurchase(sql, providerId, purchaseRef)
    const isOwn = purchase?.customerRef === customerRef && purchase.planRef !== null
    if (!isOwn || purchase.endedAt !== null) return { kind: 'purchase-not-found' }
  }
  return redeemCoupon(work, redemption, generateReference('discount'))
}
