import type { FastifyRequest } from 'fastify'
import { normalizedCode, type Coupon } from '@tollgate/domain/coupons/coupon'
import { findCoupon, findCouponByCode } from '@tollgate/domain/coupons/coupons-repository'
import type { CouponFault } from '@tollgate/domain/coupons/decide-redemption'
import { setCheckoutCoupon } from '@tollgate/domain/sessions/checkout-coupons'
import { discountedAwayReason } from '@tollgate/domain/settlement/decide-terms'
import { priceRequest } from '@tollgate/domain/settlement/price-request'
import { couponCode } from '@tollgate/schemas/http/coupons'
import type { ApiServer } from '../../access/api-server.ts'
import { commit } from '../../access/commit.ts'
import { read, type ReadParts } from '../../access/read.ts'
import { formFields } from '../form-fields.ts'
import type { Reader } from '../reader.ts'
import { showFormAgain } from '../submitted-form.ts'
import type { BeginPaymentParts } from './begin-payment.ts'
import {
  checkoutOf,
  checkoutPath,
  operationOfCheckout,
  stepPath,
  type Checkout,
} from './checkout.ts'
import { paymentRequestOf } from './payment-request.ts'

/**
 * Registers the form in which a customer enters a discount code. The checkout stores the coupon, and nothing is redeemed until the plan
 * begins. A code that cannot be redeemed is refused here, and again when the customer pays.
 */
export function registerCouponForm(app: ApiServer, pages: BeginPaymentParts): void {
  app.post(`${checkoutPath}/:reference/code`, { schema: { hide: true } }, async (request, reply) => {
    const checkout = checkoutOf(request)
    const { plan, currency, code = '', act } = formFields(request)
    const path = stepPath(checkout, { plan, currency })
    if (checkout.status === 'used') return reply.redirect(checkout.path, 303)
    const couponRef = act === 'remove' ? null : await findRedeemable(pages, request, code)
    if (couponRef !== null && typeof couponRef !== 'string') {
      const text = couponFaultText(couponRef.fault, checkout.frame)
      return showFormAgain(pages, reply, checkout, path, { fields: {}, text })
    }
    await storeCoupon(pages, request, couponRef)
    return reply.redirect(path, 303)
  })
}

/** Stores the coupon that the checkout redeems. Null for none. */
export async function storeCoupon(
  pages: BeginPaymentParts,
  request: FastifyRequest,
  couponRef: string | null,
): Promise<void> {
  const { sessionId } = checkoutOf(request).session
  await commit(pages, operationOfCheckout(pages, request), ({ sql, providerId }) =>
    setCheckoutCoupon(sql, providerId, sessionId, couponRef),
  )
}

/** Returns the coupon with the code, or why this customer cannot redeem it on this checkout. */
async function findRedeemable(
  pages: BeginPaymentParts,
  request: FastifyRequest,
  code: string,
): Promise<string | { readonly fault: CouponFault }> {
  const checkout = checkoutOf(request)
  const { caller } = checkout
  const coupon = couponCode.safeParse(code.trim()).success
    ? await read(pages, caller, (sql) =>
        findCouponByCode(sql, caller.providerId, normalizedCode(code)),
      )
    : undefined
  if (coupon === undefined) return { fault: 'unknown' }
  const { reference: couponRef } = coupon
  const entered = { ...checkout, session: { ...checkout.session, couponRef } }
  const operation = operationOfCheckout(pages, request)
  const wanted = paymentRequestOf(entered, formFields(request))
  const priced = await priceRequest(pages.payments, operation, wanted)
  if (priced.kind === 'priced') return couponRef
  if (priced.kind !== 'refused') return { fault: 'out_of_scope' }
  // A plan without a payment in advance is discounted later.
  const { couponFault: fault, reason } = priced
  return fault === undefined || reason === discountedAwayReason ? couponRef : { fault }
}

/** Returns the coupon that the checkout redeems. */
export function readCoupon(
  pages: ReadParts,
  { caller, session: { couponRef } }: Checkout,
): Promise<Coupon | undefined> {
  if (couponRef === null) return Promise.resolve(undefined)
  return read(pages, caller, (sql) => findCoupon(sql, caller.providerId, couponRef))
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
      return t('checkout:codeForOther')
    case 'within_period':
      return t('checkout:codeNotForChange')
  }
}
