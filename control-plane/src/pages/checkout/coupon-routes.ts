import type { FastifyRequest } from 'fastify'
import { normalizedCode } from '@tollgate/domain/coupons/coupon'
import { findCouponByCode } from '@tollgate/domain/coupons/coupons-repository'
import type { CouponFault } from '@tollgate/domain/coupons/decide-redemption'
import { countAuthAttempt } from '@tollgate/domain/customer-auth/attempts'
import { digestOfParts } from '@tollgate/domain/customer-auth/digest'
import { priceRequest } from '@tollgate/domain/settlement/price-request'
import { couponCode } from '@tollgate/schemas/http/coupons'
import type { ApiServer } from '../../access/api-server.ts'
import { read } from '../../access/read.ts'
import { formFields } from '../form-fields.ts'
import { ProblemError, problems } from '../problem.tsx'
import { showFormAgain } from '../submitted-form.ts'
import type { BeginPaymentParts } from './begin-payment.ts'
import {
  checkoutOf,
  checkoutPath,
  operationOfCheckout,
  stepPath,
  type Checkout,
} from './checkout.ts'
import { couponFaultText, storeCoupon } from './checkout-coupon.ts'
import { paymentRequestOf } from './payment-request.ts'

export type CouponFormParts = BeginPaymentParts & {
  readonly limits: { readonly discountCodesPerCustomerMax: number }
}

/**
 * Registers the form in which a customer enters a discount code. The checkout stores the coupon, and nothing is redeemed until the plan
 * begins. A code that cannot be redeemed is refused here, and again when the customer pays.
 */
export function registerCouponForm(app: ApiServer, pages: CouponFormParts): void {
  app.post(
    `${checkoutPath}/:reference/code`,
    { schema: { hide: true } },
    async (request, reply) => {
      const checkout = checkoutOf(request)
      const { plan, currency, code = '', act } = formFields(request)
      const path = stepPath(checkout, { plan, currency })
      if (checkout.status === 'used') return reply.redirect(checkout.path, 303)
      if (act !== 'remove') await requireCodeEntryLeft(pages, checkout)
      const couponRef = act === 'remove' ? null : await findRedeemable(pages, request, code)
      if (couponRef !== null && typeof couponRef !== 'string') {
        const text = couponFaultText(couponRef.fault, checkout.frame)
        return showFormAgain(pages, reply, checkout, path, { fields: {}, text })
      }
      await storeCoupon(pages, request, couponRef)
      return reply.redirect(path, 303)
    },
  )
}

const codesWindowMs = 3_600_000

/** Counts an entry of a code by the customer, on any checkout. Ends the request with a page if there were too many, so that nobody guesses codes. */
async function requireCodeEntryLeft(
  { publisher, clock, limits }: CouponFormParts,
  { caller: { providerId, environment }, customer, frame }: Checkout,
): Promise<void> {
  const max = limits.discountCodesPerCustomerMax
  const waitMs = await countAuthAttempt(
    publisher.database.in(environment),
    { kind: 'guess-address', max, windowMs: codesWindowMs },
    digestOfParts('discount code', providerId, customer.reference),
    new Date(clock.now()),
  )
  if (waitMs !== undefined) throw new ProblemError(problems.tooManyAttempts, frame)
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
  const { couponFault: fault } = priced
  return fault === undefined ? couponRef : { fault }
}
