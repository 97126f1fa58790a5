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
import { selectionFields } from './selection.ts'

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
      const form = formFields(request)
      const { plan, currency, code = '', act } = form
      const path = stepPath(checkout, { plan, currency })
      if (checkout.status === 'used') return reply.redirect(checkout.path, 303)
      if (act === 'remove') {
        await storeCoupon(pages, request, null)
        return reply.redirect(path, 303)
      }
      await requireCodeEntryLeft(pages, checkout)
      const found = await findRedeemable(pages, request, code)
      if (found.kind === 'refused') {
        const text = couponFaultText(found.fault, checkout.frame)
        return showFormAgain(pages, reply, checkout, path, { fields: selectionFields(form), text })
      }
      await storeCoupon(pages, request, found.couponRef)
      return reply.redirect(path, 303)
    },
  )
}

const codesWindowMs = 3_600_000

/**
 * Counts an entry of a discount code for the customer, whichever checkout it is on. Throws the page for too many attempts when the limit
 * is reached, so that customers cannot guess codes.
 */
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

type FoundCoupon =
  | { readonly kind: 'redeemable'; readonly couponRef: string }
  | { readonly kind: 'refused'; readonly fault: CouponFault }

/** Returns the coupon with the code, or why this customer cannot redeem it on this checkout. */
async function findRedeemable(
  pages: BeginPaymentParts,
  request: FastifyRequest,
  code: string,
): Promise<FoundCoupon> {
  const checkout = checkoutOf(request)
  const { caller } = checkout
  const coupon = couponCode.safeParse(code.trim()).success
    ? await read(pages, caller, (sql) =>
        findCouponByCode(sql, caller.providerId, normalizedCode(code)),
      )
    : undefined
  if (coupon === undefined) return { kind: 'refused', fault: 'unknown' }
  const { reference: couponRef } = coupon
  const entered = { ...checkout, session: { ...checkout.session, couponRef } }
  const operation = operationOfCheckout(pages, request)
  const wanted = paymentRequestOf(entered, formFields(request))
  const priced = await priceRequest(pages.payments, operation, wanted)
  if (priced.kind === 'priced') return { kind: 'redeemable', couponRef }
  if (priced.kind !== 'refused') return { kind: 'refused', fault: 'out_of_scope' }
  // A plan without a payment in advance is discounted later.
  const { couponFault: fault } = priced
  return fault === undefined ? { kind: 'redeemable', couponRef } : { kind: 'refused', fault }
}
