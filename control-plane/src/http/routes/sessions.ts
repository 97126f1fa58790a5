import { z } from 'zod'
import { findPlan } from '@tollgate/domain/plans/repository'
import { isOffered } from '@tollgate/domain/plans/plan-offer'
import type { Plan } from '@tollgate/domain/plans/plan'
import { openCheckoutSession } from '@tollgate/domain/sessions/checkout-sessions'
import {
  customerSessionStatus,
  findCustomerSession,
  openCustomerSession,
} from '@tollgate/domain/sessions/customer-sessions'
import { checkoutPageUrl, customerPageUrl } from '@tollgate/domain/sessions/hosted-pages'
import { requiredReference } from '@tollgate/schemas/http/fields'
import {
  checkoutSessionCreatedSchema,
  checkoutSessionCreateSchema,
  customerSessionCreatedSchema,
  customerSessionCreateSchema,
  customerSessionSchema,
} from '@tollgate/schemas/http/sessions'
import { refusals } from '../../errors.ts'
import { briefPurchasesOf } from '../../purchases/present-purchases.ts'
import type { ApiServer } from '../api-server.ts'
import type { AppParts } from '../app-parts.ts'
import { commit } from '../commit.ts'
import { callerOf, operationOf, type Caller } from '../plugins/authentication.ts'
import { read } from '../read.ts'
import { requireCustomer, requireProduct } from '../require.ts'
import { customerToHttp } from '../translate/customer.ts'

/** Hosted pages. `customer-sessions` is a fixed path segment and wins over a customer's reference. */
export function registerSessionRoutes(app: ApiServer, parts: AppParts): void {
  registerCustomerSessions(app, parts)

  app.post(
    '/v1/sdk/checkout-sessions',
    {
      schema: {
        tags: ['Checkout'],
        body: checkoutSessionCreateSchema,
        response: { 201: checkoutSessionCreatedSchema },
      },
    },
    async (request, reply) => {
      const operation = operationOf(request, parts.clock)
      const { body } = request
      const purpose = body.purpose ?? 'product'
      const productRef = body.productRef || undefined
      if (purpose === 'product' && productRef === undefined) throw refusals.checkoutNeedsProduct()
      const customer = await requireCustomer(parts, operation, body.customerRef)
      if (productRef !== undefined) {
        const product = await requireProduct(parts, operation, productRef)
        if (product.status !== 'active') throw refusals.productUnavailable(productRef)
      }
      const plan = await requirePlan(parts, operation, productRef, body.planRef || undefined)
      const { sessionId } = await commit(parts, operation, (work) =>
        openCheckoutSession(work, parts.hostedUrl, {
          customerRef: customer.reference,
          purpose,
          productRef: productRef ?? null,
          plan,
          returnUrl: body.returnUrl || null,
        }),
      )
      const checkoutUrl = checkoutPageUrl(parts.hostedUrl, sessionId)
      return reply.code(201).send({ sessionId, checkoutUrl })
    },
  )
}

function registerCustomerSessions(app: ApiServer, parts: AppParts): void {
  const tags = ['Customers']
  app.post(
    '/v1/sdk/customers/customer-sessions',
    {
      schema: {
        tags,
        body: customerSessionCreateSchema,
        response: { 201: customerSessionCreatedSchema },
      },
    },
    async (request, reply) => {
      const operation = operationOf(request, parts.clock)
      const customer = await requireCustomer(parts, operation, request.body.customerRef)
      const productRef = request.body.productRef || null
      if (productRef !== null) await requireProduct(parts, operation, productRef)
      const opened = { customerRef: customer.reference, productRef }
      const { sessionId } = await commit(parts, operation, ({ sql, providerId, now }) =>
        openCustomerSession(sql, providerId, opened, now),
      )
      const customerUrl = customerPageUrl(parts.hostedUrl, sessionId)
      return reply.code(201).send({ sessionId, customerUrl })
    },
  )

  app.get(
    '/v1/sdk/customers/customer-sessions/:sessionId',
    {
      schema: {
        tags,
        params: z.object({ sessionId: requiredReference }),
        response: { 200: customerSessionSchema },
      },
    },
    async (request) => {
      const caller = callerOf(request)
      const { sessionId } = request.params
      const session = await read(parts, caller, (sql) =>
        findCustomerSession(sql, caller.providerId, sessionId),
      )
      if (session === undefined) throw refusals.customerSessionNotFound(sessionId)
      const customer = await requireCustomer(parts, caller, session.customerRef)
      const purchases = await briefPurchasesOf(parts, caller, customer.reference)
      return {
        sessionId,
        status: customerSessionStatus(session, new Date(parts.clock.now())),
        customerUrl: customerPageUrl(parts.hostedUrl, sessionId),
        expiresAt: session.expiresAt.toISOString(),
        customer: customerToHttp(customer, purchases),
        createdAt: session.createdAt.toISOString(),
        updatedAt: session.updatedAt.toISOString(),
      }
    },
  )
}

async function requirePlan(
  parts: AppParts,
  caller: Caller,
  productRef: string | undefined,
  planRef: string | undefined,
): Promise<Plan | undefined> {
  if (productRef === undefined || planRef === undefined) return undefined
  const plan = await read(parts, caller, (sql) =>
    findPlan(sql, caller.providerId, productRef, planRef),
  )
  if (plan === undefined) throw refusals.planNotFound(planRef)
  if (!isOffered(plan)) throw refusals.planUnavailable(planRef)
  return plan
}
