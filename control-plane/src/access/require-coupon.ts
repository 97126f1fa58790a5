import { normalizedCode } from '@tollgate/domain/coupons/coupon'
import { findCouponByCode } from '@tollgate/domain/coupons/coupons-repository'
import { refusals } from '../errors.ts'
import type { Caller } from './caller.ts'
import { read, type ReadParts } from './read.ts'

/** Returns the reference of the coupon with the code. Refuses a code that the provider does not have. */
export async function requireCouponRef(
  parts: ReadParts,
  caller: Caller,
  code: string,
): Promise<string> {
  const coupon = await read(parts, caller, (sql) =>
    findCouponByCode(sql, caller.providerId, normalizedCode(code)),
  )
  if (coupon === undefined) throw refusals.couponNotFound(code)
  return coupon.reference
}
