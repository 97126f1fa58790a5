import type { FastifyRequest } from 'fastify'
import type { Coupon } from '@tollgate/domain/coupons/coupon'
import { findCoupon } from '@tollgate/domain/coupons/coupons-repository'
import type { CouponFault } from '@tollgate/domain/coupons/decide-redemption'
import { findRedemptionFault } from '@tollgate/domain/coupons/redeem-coupon'
import { setCheckoutCoupon } from '@tollgate/domain/sessions/checkout-coupons'
import type { Clock } from '@tollgate/platform/clock/clock'
import { commit, type ChangeParts } from '../../access/commit.ts'
import { read, type ReadParts } from '../../access/read.ts'
import type { Reader } from '../reader.ts'
import { checkoutOf, operationOfCheckout, type Checkout } from './checkout.ts'

/** Stores the coupon that the checkout redeems. Null for none. */
export async function storeCoupon(
  pages: ChangeParts,
  request: FastifyRequest,
  couponRef: string | null,
): Promise<void> {
  const { sessionId } = checkoutOf(request).session
  await commit(pages, operationOfCheckout(pages, request), ({ sql, providerId }) =>
    setCheckoutCoupon(sql, providerId, sessionId, couponRef),
  )
}

/** Returns the coupon that the checkout redeems. */
function readCoupon(
  pages: ReadParts,
  { caller, session: { couponRef } }: Checkout,
): Promise<Coupon | undefined> {
  if (couponRef === null) return Promise.resolve(undefined)
  return read(pages, caller, (sql) => findCoupon(sql, caller.providerId, couponRef))
}

/**
 * Returns the text of the page about the coupon of the checkout: its name, or the reason for which it takes nothing off. `taken` is true
 * if the price has a line of the coupon. Otherwise it is false, or the fault of the coupon. It is undefined for a plan that redeems the
 * coupon at its start and is discounted later.
 */
export async function readCouponText(
  pages: ReadParts & { readonly clock: Clock },
  checkout: Checkout,
  taken: boolean | CouponFault | undefined,
): Promise<string | undefined> {
  const coupon = await readCoupon(pages, checkout)
  if (coupon === undefined) return undefined
  const { caller, customer, frame } = checkout
  const fault =
    typeof taken === 'string'
      ? taken
      : await read(pages, caller, (sql) =>
          findRedemptionFault(
            { sql, providerId: caller.providerId, now: new Date(pages.clock.now()) },
            coupon,
            { customerRef: customer.reference, purchaseRef: null },
          ),
        )
  if (fault !== undefined) return couponFaultText(fault, frame)
  if (taken === false) return frame.t('checkout:codeTakesNothing')
  return frame.t('checkout:codeApplied', { name: coupon.name })
}

/** Returns what a customer is told about a code that cannot be redeemed. */
export function couponFaultText(fault: CouponFault, { t }: Pick<Reader, 't'>): string {
  switch (fault) {
    case 'unknown':
    case 'archived':
      return t('checkout:codeUnknown')
    case 'expired':
      return t('checkout:codeExpired')
    case 'used_up':
      return t('checkout:codeUsedUp')
    case 'used_by_customer':
    case 'applied':
      return t('checkout:codeUsedBefore')
    case 'out_of_scope':
    case 'nothing_left':
      return t('checkout:codeForOther')
    case 'within_period':
      return t('checkout:codeNotForChange')
  }
}
