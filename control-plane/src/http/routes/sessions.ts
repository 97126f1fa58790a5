import { z } from 'zod'
import { redacted } from '@tollgate/domain/outbox/redact-session'
import { isSoldOut } from '@tollgate/domain/plans/sold-out'
import { findPlan } from '@tollgate/domain/catalog/plans-repository'
import { isOffered } from '@tollgate/domain/catalog/plan-offer'
import type { Plan } from '@tollgate/domain/plans/plan'
import {
  findCheckoutByKey,
  openCheckoutSession,
  type CheckoutKey,
  type CheckoutSession,
  type KeyedCheckoutOutcome,
} from '@tollgate/domain/sessions/checkout-sessions'
import {
  customerSessionStatus,
  findCustomerSession,
  openCustomerSession,
} from '@tollgate/domain/sessions/customer-sessions'
import { checkoutPageUrl, customerPageUrl } from '@tollgate/domain/sessions/hosted-pages'
import { openCheckoutOnce } from '@tollgate/domain/sessions/open-checkout-once'
import type { Operation } from '@tollgate/domain/unit-of-work/unit-of-work'
import { sha256OfInput } from '@tollgate/domain/money-ledger/ledger'
import { requiredReference } from '@tollgate/schemas/http/fields'
import {
  checkoutSessionCreatedSchema,
  checkoutSessionCreateSchema,
  customerSessionCreatedSchema,
  customerSessionCreateSchema,
  customerSessionSchema,
  type CheckoutSessionCreate,
} from '@tollgate/schemas/http/sessions'
import type { CommitParts } from '@tollgate/domain/publishing/commit-and-publish'
import type { HostedParts } from '@tollgate/domain/sessions/hosted-parts'
import type { PublisherParts } from '@tollgate/domain/publishing/publisher-parts'
import { refusals } from '../../errors.ts'
import { knownLocale } from '../../pages/texts/languages.ts'
import { briefPurchasesOf, type PurchaseViewParts } from '../../purchases/present-purchases.ts'
import type { ApiServer } from '../../access/api-server.ts'
import { commit } from '../../access/commit.ts'
import { callerOf, operationOf, type Caller } from '../../access/caller.ts'
import { mayManage } from '../../access/scopes.ts'
import { read, type ReadParts } from '../../access/read.ts'
import { requireAllowedLinks } from '../../access/require-links.ts'
import { requireCouponRef } from '../../access/require-coupon.ts'
import { requireCustomer, requireProduct } from '../../access/require.ts'
import { customerToHttp } from '../translate/customer.ts'

type Parts = PurchaseViewParts & HostedParts & { readonly publisher: PublisherParts }

/** Registers the sessions of hosted pages. `customer-sessions` is a fixed path segment and wins over a customer's reference. */
export function registerSessionRoutes(app: ApiServer, parts: Parts): void {
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
      const { sessionId } = await openCheckout(
        parts,
        operationOf(request, parts.clock),
        request.body,
      )
      const checkoutUrl = checkoutPageUrl(parts.hostedUrl, sessionId)
      return reply.code(201).send({ sessionId, checkoutUrl })
    },
  )
}

async function openCheckout(
  parts: CommitParts & HostedParts,
  operation: Operation,
  body: CheckoutSessionCreate,
): Promise<CheckoutSession> {
  const { providerId } = operation
  const purpose = body.purpose ?? 'product'
  const productRef = body.productRef || undefined
  if (purpose === 'product' && productRef === undefined) throw refusals.checkoutNeedsProduct()
  const customer = await requireCustomer(parts, operation, body.customerRef)
  const key = checkoutKey(operation, customer.reference, body)
  if (key !== undefined) {
    // Look for the key first, before any check of objects that may have changed since the first request, such as the plan.
    const earlier = await read(parts, operation, (sql) => findCheckoutByKey(sql, providerId, key))
    if (earlier !== undefined) return requireOpened(earlier)
  }
  if (productRef !== undefined) {
    const product = await requireProduct(parts, operation, productRef)
    if (product.status !== 'active') throw refusals.productUnavailable(productRef)
  }
  const sale = { customerRef: customer.reference, productRef, planRef: body.planRef || undefined }
  const plan = await requirePlan(parts, operation, sale)
  const { returnUrl, couponCode } = body
  await requireAllowedLinks(parts, operation, { returnUrl })
  const request = {
    customerRef: customer.reference,
    purpose,
    productRef: productRef ?? null,
    plan,
    returnUrl: returnUrl || null,
    mayChangePlan: true,
    locale: knownLocale(body.locale),
    couponRef:
      couponCode === undefined ? null : await requireCouponRef(parts, operation, couponCode),
  }
  return commit(parts, operation, async (work) =>
    key === undefined
      ? openCheckoutSession(work, parts, request)
      : requireOpened(await openCheckoutOnce(work, parts, request, key)),
  )
}

function checkoutKey(
  { idempotencyKey }: Operation,
  customerRef: string,
  { purpose, productRef, planRef, returnUrl, locale, couponCode }: CheckoutSessionCreate,
): CheckoutKey | undefined {
  if (idempotencyKey === null) return undefined
  const terms = [customerRef, purpose ?? 'product', productRef, planRef, returnUrl]
  // Without a locale the digest is the same as before locales existed, so a retry across the upgrade finds its session.
  const known = knownLocale(locale)
  const localized = known === null ? terms : [...terms, known]
  const input = couponCode === undefined ? localized : [...localized, `coupon ${couponCode}`]
  return { text: idempotencyKey, inputSha256: sha256OfInput(input.map((each) => each || null)) }
}

function requireOpened(outcome: KeyedCheckoutOutcome): CheckoutSession {
  if (outcome.kind === 'key-reused') throw refusals.idempotencyKeyReused()
  return outcome.session
}

function registerCustomerSessions(app: ApiServer, parts: Parts): void {
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
      const locale = knownLocale(request.body.locale)
      const opened = { customerRef: customer.reference, productRef, locale }
      const { sessionId } = await commit(parts, operation, (work) =>
        openCustomerSession(work, parts.limits, opened),
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
        customerUrl: mayManage(request) ? customerPageUrl(parts.hostedUrl, sessionId) : redacted,
        expiresAt: session.expiresAt.toISOString(),
        customer: customerToHttp(customer, purchases),
        createdAt: session.createdAt.toISOString(),
        updatedAt: session.updatedAt.toISOString(),
      }
    },
  )
}

async function requirePlan(
  parts: ReadParts,
  caller: Caller,
  sale: {
    readonly customerRef: string
    readonly productRef: string | undefined
    readonly planRef: string | undefined
  },
): Promise<Plan | undefined> {
  const { customerRef, productRef, planRef } = sale
  if (productRef === undefined || planRef === undefined) return undefined
  const { providerId } = caller
  const found = await read(parts, caller, async (sql) => {
    const plan = await findPlan(sql, providerId, productRef, planRef)
    return plan && { plan, isSold: await isSoldOut(sql, providerId, plan, customerRef) }
  })
  if (found === undefined) throw refusals.planNotFound(planRef)
  const { plan, isSold } = found
  if (!isOffered(plan)) throw refusals.planUnavailable(planRef)
  if (isSold) throw refusals.planSoldOut(planRef)
  return plan
}
