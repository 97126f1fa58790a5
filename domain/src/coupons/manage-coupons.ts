import { generateReference } from '../unit-of-work/generate-reference.ts'
import type { UnitOfWork } from '../unit-of-work/unit-of-work.ts'
import type { Coupon, CouponTerms } from './coupon.ts'
import { insertCoupon, lockCoupon, updateCoupon } from './coupons-repository.ts'

/** Creates a coupon. Returns undefined if another coupon, also an archived one, has its code. */
export async function createCoupon(
  { sql, providerId, now }: UnitOfWork,
  terms: CouponTerms,
): Promise<Coupon | undefined> {
  const reference = generateReference('coupon')
  const coupon = { ...terms, reference, archivedAt: null, createdAt: now, updatedAt: now }
  return (await insertCoupon(sql, providerId, coupon)) ? coupon : undefined
}

/** The fields that can change. What a coupon takes off stays, because customers have it. */
export type CouponChange = Partial<
  Pick<Coupon, 'name' | 'redemptionsMax' | 'redemptionsPerCustomerMax' | 'redeemBy'>
>

/** Changes a coupon. Limits below the number of redemptions only refuse further ones. Returns undefined if there is no such coupon. */
export async function changeCoupon(
  { sql, providerId, now }: UnitOfWork,
  reference: string,
  change: CouponChange,
): Promise<Coupon | undefined> {
  const coupon = await lockCoupon(sql, providerId, reference)
  if (coupon === undefined) return undefined
  const changed = { ...coupon, ...change, updatedAt: now }
  await updateCoupon(sql, providerId, changed)
  return changed
}

/** Archives a coupon: nobody redeems it any more, and its discounts continue. Returns undefined if there is no such coupon. */
export async function archiveCoupon(
  { sql, providerId, now }: UnitOfWork,
  reference: string,
): Promise<Coupon | undefined> {
  const coupon = await lockCoupon(sql, providerId, reference)
  if (coupon === undefined || coupon.archivedAt !== null) return coupon
  const archived = { ...coupon, archivedAt: now, updatedAt: now }
  await updateCoupon(sql, providerId, archived)
  return archived
}
