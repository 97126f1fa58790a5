import { z } from 'zod'
import type { Queryable } from '@tollgate/platform/database/database'
import { findProduct } from '@tollgate/domain/catalog/products-repository'
import { planExists } from '@tollgate/domain/catalog/plans-repository'
import { normalizedCode, type Coupon, type CouponTerms } from '@tollgate/domain/coupons/coupon'
import {
  countRedemptions,
  findCoupon,
  listCoupons,
} from '@tollgate/domain/coupons/coupons-repository'
import { archiveCoupon, changeCoupon, createCoupon } from '@tollgate/domain/coupons/manage-coupons'
import {
  couponSchema,
  couponsQuerySchema,
  couponsResponseSchema,
  createCouponSchema,
  updateCouponSchema,
  type CouponBody,
  type CreateCouponInput,
} from '@tollgate/schemas/http/coupons'
import { clampPage, requiredReference } from '@tollgate/schemas/http/fields'
import type { ApiServer } from '../../access/api-server.ts'
import { callerOf, operationOf, type Caller } from '../../access/caller.ts'
import { commit, type ChangeParts } from '../../access/commit.ts'
import { read } from '../../access/read.ts'
import { refusals } from '../../errors.ts'
import { couponToHttp } from '../translate/coupons.ts'

const path = '/v1/ui/coupons'
const params = z.object({ couponRef: requiredReference })
const tags = ['Coupons']

/** Registers the routes of coupons. */
export function registerCouponRoutes(app: ApiServer, parts: ChangeParts): void {
  registerReads(app, parts)
  registerChanges(app, parts)
}

function registerReads(app: ApiServer, parts: ChangeParts): void {
  app.get(
    path,
    { schema: { tags, querystring: couponsQuerySchema, response: { 200: couponsResponseSchema } } },
    async (request) => {
      const caller = callerOf(request)
      const { providerId } = caller
      const { code, archived } = request.query
      const filter = {
        ...(code === undefined ? {} : { code: normalizedCode(code) }),
        isArchived: archived === 'true',
      }
      return read(parts, caller, async (sql) => {
        const page = clampPage(request.query)
        const { coupons, total } = await listCoupons(sql, providerId, filter, page)
        return { coupons: await readBodies(sql, providerId, coupons), total }
      })
    },
  )

  app.get(
    `${path}/:couponRef`,
    { schema: { tags, params, response: { 200: couponSchema } } },
    async (request) => {
      const caller = callerOf(request)
      const { providerId } = caller
      const { couponRef } = request.params
      return read(parts, caller, async (sql) =>
        requireBody(sql, providerId, couponRef, await findCoupon(sql, providerId, couponRef)),
      )
    },
  )
}

function registerChanges(app: ApiServer, parts: ChangeParts): void {
  app.post(
    path,
    { schema: { tags, body: createCouponSchema, response: { 201: couponSchema } } },
    async (request, reply) => {
      const operation = operationOf(request, parts.clock)
      await requireScope(parts, operation, request.body)
      const terms = termsFromHttp(request.body)
      const coupon = await commit(parts, operation, (work) => createCoupon(work, terms))
      if (coupon === undefined) throw refusals.couponCodeTaken(terms.code ?? '')
      return reply.status(201).send({ ...couponToHttp(coupon), redemptions: 0 })
    },
  )

  app.patch(
    `${path}/:couponRef`,
    { schema: { tags, params, body: updateCouponSchema, response: { 200: couponSchema } } },
    async (request) => {
      const operation = operationOf(request, parts.clock)
      const { couponRef } = request.params
      const { name, maxRedemptions, maxRedemptionsPerCustomer, redeemBy } = request.body
      const change = {
        ...(name === undefined ? {} : { name }),
        ...(maxRedemptions === undefined ? {} : { redemptionsMax: maxRedemptions }),
        ...(maxRedemptionsPerCustomer === undefined
          ? {}
          : { redemptionsPerCustomerMax: maxRedemptionsPerCustomer }),
        ...(redeemBy === undefined ? {} : { redeemBy: dateOf(redeemBy) }),
      }
      return commit(parts, operation, async (work) => {
        const coupon = await changeCoupon(work, couponRef, change)
        return requireBody(work.sql, work.providerId, couponRef, coupon)
      })
    },
  )

  app.post(
    `${path}/:couponRef/archive`,
    { schema: { tags, params, response: { 200: couponSchema } } },
    async (request) => {
      const operation = operationOf(request, parts.clock)
      const { couponRef } = request.params
      return commit(parts, operation, async (work) => {
        const coupon = await archiveCoupon(work, couponRef)
        return requireBody(work.sql, work.providerId, couponRef, coupon)
      })
    },
  )
}

/** Returns the body of the coupon. Refuses the request if there is no such coupon. */
async function requireBody(
  sql: Queryable,
  providerId: string,
  couponRef: string,
  coupon: Coupon | undefined,
): Promise<CouponBody> {
  if (coupon === undefined) throw refusals.couponNotFound(couponRef)
  const [body] = await readBodies(sql, providerId, [coupon])
  return body!
}

/** Returns the bodies of the coupons, with the number of their redemptions. */
async function readBodies(
  sql: Queryable,
  providerId: string,
  coupons: readonly Coupon[],
): Promise<CouponBody[]> {
  const references = coupons.map(({ reference }) => reference)
  const counts = await countRedemptions(sql, providerId, references)
  return coupons.map((coupon) => ({
    ...couponToHttp(coupon),
    redemptions: counts.get(coupon.reference) ?? 0,
  }))
}

/** Refuses products and plans that the provider does not have. */
async function requireScope(
  parts: ChangeParts,
  caller: Caller,
  { productRefs = [], planRefs = [] }: CreateCouponInput,
): Promise<void> {
  const { providerId } = caller
  await read(parts, caller, async (sql) => {
    for (const productRef of productRefs) {
      if ((await findProduct(sql, providerId, productRef)) === undefined) {
        throw refusals.productNotFound(productRef)
      }
    }
    for (const planRef of planRefs) {
      if (!(await planExists(sql, providerId, planRef))) throw refusals.planNotFound(planRef)
    }
  })
}

function termsFromHttp(input: CreateCouponInput): CouponTerms {
  const { code, name, percentOff, amountOff, currency, duration, durationInvoices } = input
  const { productRefs = [], planRefs = [], redeemBy } = input
  return {
    code: code === undefined ? null : normalizedCode(code),
    name,
    percentOff: percentOff === undefined ? null : String(percentOff),
    amountOffMinor: amountOff === undefined ? null : BigInt(amountOff),
    currency: currency?.toUpperCase() ?? null,
    duration,
    durationInvoices: duration === 'once' ? 1 : (durationInvoices ?? null),
    productRefs,
    planRefs,
    redemptionsMax: input.maxRedemptions ?? null,
    redemptionsPerCustomerMax: input.maxRedemptionsPerCustomer ?? null,
    redeemBy: dateOf(redeemBy ?? null),
  }
}

function dateOf(text: string | null): Date | null {
  return text === null ? null : new Date(text)
}
