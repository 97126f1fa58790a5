import { z } from 'zod'
import { listDiscounts, removeDiscount } from '@tollgate/domain/coupons/discounts-repository'
import { addDiscount } from '@tollgate/domain/invoice-decisions/add-discount'
import {
  addDiscountSchema,
  discountSchema,
  discountsResponseSchema,
} from '@tollgate/schemas/http/coupons'
import { requiredReference } from '@tollgate/schemas/http/fields'
import { listedDiscountsMax } from '@tollgate/schemas/limits'
import type { ApiServer } from '../../access/api-server.ts'
import { callerOf, operationOf } from '../../access/caller.ts'
import { commit, type ChangeParts } from '../../access/commit.ts'
import { read } from '../../access/read.ts'
import { requireCouponRef } from '../../access/require-coupon.ts'
import { requireCustomer } from '../../access/require.ts'
import { refusals } from '../../errors.ts'
import { discountToHttp } from '../translate/coupons.ts'

const tags = ['Coupons']
const params = z.object({ reference: requiredReference })
const discountParams = params.extend({ discountRef: requiredReference })
const path = '/v1/ui/customers/:reference/discounts'

/** Registers the routes of the discounts that customers have. */
export function registerDiscountRoutes(app: ApiServer, parts: ChangeParts): void {
  app.get(
    path,
    { schema: { tags, params, response: { 200: discountsResponseSchema } } },
    async (request) => {
      const caller = callerOf(request)
      const { reference } = await requireCustomer(parts, caller, request.params.reference)
      return read(parts, caller, async (sql) => ({
        discounts: (await listDiscounts(sql, caller.providerId, reference, listedDiscountsMax)).map(
          discountToHttp,
        ),
      }))
    },
  )

  app.post(
    path,
    { schema: { tags, params, body: addDiscountSchema, response: { 201: discountSchema } } },
    async (request, reply) => {
      const operation = operationOf(request, parts.clock)
      const { purchaseRef = null } = request.body
      const customer = await requireCustomer(parts, operation, request.params.reference)
      const { code, couponRef: named = '' } = request.body
      const couponRef = code === undefined ? named : await requireCouponRef(parts, operation, code)
      const redemption = { couponRef, customerRef: customer.reference, purchaseRef }
      const outcome = await commit(parts, operation, (work) => addDiscount(work, redemption))
      switch (outcome.kind) {
        case 'redeemed':
          return reply.status(201).send(discountToHttp(outcome.discount))
        case 'refused':
          throw refusals.couponNotRedeemable(couponRef, outcome.fault)
        case 'not-found':
          throw refusals.couponNotFound(couponRef)
        case 'purchase-not-found':
          throw refusals.purchaseNotFound(purchaseRef ?? '')
        case 'customer-not-found':
          throw refusals.customerNotFound(request.params.reference)
      }
    },
  )

  app.delete(
    `${path}/:discountRef`,
    { schema: { tags, params: discountParams, response: { 200: discountsResponseSchema } } },
    async (request) => {
      const operation = operationOf(request, parts.clock)
      const { reference: anyReference, discountRef } = request.params
      const { reference: customerRef } = await requireCustomer(parts, operation, anyReference)
      const discount = { customerRef, reference: discountRef }
      const left = await commit(parts, operation, async ({ sql, providerId, now }) => {
        if (!(await removeDiscount(sql, providerId, discount, now))) return undefined
        return listDiscounts(sql, providerId, customerRef, listedDiscountsMax)
      })
      if (left === undefined) throw refusals.discountNotFound(discountRef)
      return { discounts: left.map(discountToHttp) }
    },
  )
}
