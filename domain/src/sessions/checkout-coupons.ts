import type { Queryable } from '@tollgate/platform/database/database'

/** Stores the coupon that the checkout redeems once its plan begins. Null for none. A completed checkout keeps its coupon. */
export async function setCheckoutCoupon(
  sql: Queryable,
  providerId: string,
  sessionId: string,
  couponRef: string | null,
): Promise<void> {
  await sql`
    update checkout_sessions set coupon_ref = ${couponRef}
    where provider_id = ${providerId} and session_id = ${sessionId} and status <> 'used'`
}
