import { z } from 'zod'
import type { AutoRechargeTerms } from '@tollgate/domain/auto-recharge/repository'
import { createPayment, type CreateOutcome } from '@tollgate/domain/charging/create-payment'
import { findIntent, listIntents } from '@tollgate/domain/payments/intents-repository'
import { readPayment } from '@tollgate/domain/settlement/read-payment'
import { applyPaymentState } from '@tollgate/domain/settlement/apply-payment-state'
import { ensureSellerName } from '@tollgate/domain/settlement/ensure-seller-name'
import { processorOf, type PaymentParts } from '@tollgate/domain/payments/payment-parts'
import type { PaymentIntent } from '@tollgate/domain/payments/payment-intent'
import { isFinal } from '@tollgate/domain/payments/transitions'
import type { Operation } from '@tollgate/domain/unit-of-work/unit-of-work'
import { PaymentProcessorUnavailableError } from '@tollgate/platform/payments/payment-processor'
import { clampPage, requiredReference } from '@tollgate/schemas/http/fields'
import {
  paymentIntentCreateSchema,
  paymentIntentSchema,
  paymentIntentsQuerySchema,
  paymentIntentsResponseSchema,
  type PaymentIntentBody,
  type PaymentIntentCreate,
} from '@tollgate/schemas/http/payment-intents'
import type { Environment } from '@tollgate/schemas/environment'
import type { Clock } from '@tollgate/platform/clock/clock'
import { decideRequestedTerms } from '../../auto-recharge/save-requested-terms.ts'
import { refusals } from '../../errors.ts'
import type { ApiServer } from '../../access/api-server.ts'
import { callerOf, operationOf, type Caller } from '../../access/caller.ts'
import { mayManage } from '../../access/scopes.ts'
import { read, type ReadParts } from '../../access/read.ts'
import { requireCustomer } from '../../access/require.ts'
import { autoRechargeFromHttp } from '../translate/auto-recharge.ts'
import { definedFields } from '../../domain/defined-fields.ts'

type Parts = ReadParts & {
  readonly clock: Clock
  readonly payments: PaymentParts
  readonly publishableKeys: Readonly<Record<Environment, string>>
}

const path = '/v1/sdk/payment-intents'
const tags = ['Payments']

export function registerPaymentIntentRoutes(app: ApiServer, parts: Parts): void {
  app.get(
    path,
    {
      schema: {
        tags,
        querystring: paymentIntentsQuerySchema,
        response: { 200: paymentIntentsResponseSchema },
      },
    },
    async (request) => {
      const caller = callerOf(request)
      const page = clampPage(request.query)
      const intents = await read(parts, caller, (sql) => listIntents(sql, caller.providerId, page))
      return { paymentIntents: intents.map(paymentIntentSummary), total: intents.length }
    },
  )

  registerCreation(app, parts)

  app.get(
    `${path}/:paymentIntentRef`,
    {
      schema: {
        tags,
        params: z.object({ paymentIntentRef: requiredReference }),
        response: { 200: paymentIntentSchema },
      },
    },
    async (request) => {
      const operation = operationOf(request, parts.clock)
      const intent = await requirePaymentIntent(parts, operation, request.params.paymentIntentRef)
      const refreshed = await refreshIntent(parts, operation, intent)
      // The secret lets its holder confirm the payment, so only callers with `manage` get it.
      return intentToBody(
        parts,
        operation,
        refreshed.intent,
        mayManage(request) ? refreshed.clientSecret : undefined,
      )
    },
  )
}

function registerCreation(app: ApiServer, parts: Parts): void {
  app.post(
    path,
    {
      schema: {
        tags,
        headers: z.looseObject({
          'idempotency-key': z.string().optional().meta({
            description: 'Required. A repeated request returns the same payment',
          }),
        }),
        body: paymentIntentCreateSchema,
        response: { 201: paymentIntentSchema },
      },
    },
    async (request, reply) => {
      const operation = operationOf(request, parts.clock)
      const { idempotencyKey } = operation
      if (idempotencyKey === null) throw refusals.idempotencyKeyMissing()
      const { body } = request
      const purpose = body.purpose ?? 'product'
      if (purpose === 'usage_billing') throw refusals.usageBillingNotOnRequest()
      const customer = await requireCustomer(parts, operation, body.customerRef)
      const recharge = await rechargeTermsOf(parts, operation, customer.reference, body)
      const outcome = await createPayment(parts.payments, operation, {
        customer,
        purpose,
        productRef: body.productRef || undefined,
        planRef: body.planRef || undefined,
        amountMinor: body.amount === undefined ? undefined : BigInt(body.amount),
        currency: body.currency?.toUpperCase(),
        description: body.description,
        checkoutSessionId: undefined,
        keepsCard: false,
        recharge,
        idempotencyKey,
      })
      const { intent, clientSecret } = requireCreated(outcome, body)
      return reply.code(201).send(intentToBody(parts, operation, intent, clientSecret))
    },
  )
}

/** Returns the terms of automatic recharge that start with the card of this payment. */
async function rechargeTermsOf(
  parts: ReadParts,
  operation: Operation,
  customerRef: string,
  { autoRecharge }: PaymentIntentCreate,
): Promise<AutoRechargeTerms | undefined> {
  if (autoRecharge === undefined) return undefined
  const decision = await decideRequestedTerms(
    parts,
    operation,
    customerRef,
    autoRechargeFromHttp(autoRecharge),
  )
  if (decision.kind === 'refuse') throw refusals.autoRechargeInvalid(decision.reason)
  return decision.terms
}

function requireCreated(
  outcome: CreateOutcome,
  body: { readonly productRef?: string | undefined; readonly planRef?: string | undefined },
): Extract<CreateOutcome, { kind: 'created' }> {
  switch (outcome.kind) {
    case 'created':
      return outcome
    case 'product-not-found':
      throw refusals.productNotFound(body.productRef ?? '')
    case 'plan-not-found':
      throw refusals.planNotFound(body.planRef ?? '')
    case 'refused':
      throw refusals.paymentRefused(outcome.reason)
    case 'key-reused':
      throw refusals.idempotencyKeyReused()
    case 'unknown':
      throw refusals.processorUnavailable()
  }
}

export async function requirePaymentIntent(
  parts: ReadParts,
  caller: Caller,
  anyReference: string,
): Promise<PaymentIntent> {
  const intent = await read(parts, caller, (sql) =>
    findIntent(sql, caller.providerId, anyReference),
  )
  if (intent === undefined) throw refusals.paymentIntentNotFound()
  return intent
}

/**
 * Returns the intent with its current status at the processor. If the processor is unavailable, an intent with a final status is
 * returned as it is stored.
 */
async function refreshIntent(
  { payments }: { readonly payments: PaymentParts },
  operation: Operation,
  intent: PaymentIntent,
): Promise<{ intent: PaymentIntent; clientSecret: string | undefined }> {
  const { processorPaymentId, reference } = intent
  if (processorPaymentId === null) return { intent, clientSecret: undefined }
  try {
    const processor = processorOf(payments, operation.environment)
    const lookup = await readPayment(processor, processorPaymentId)
    if (lookup === undefined) return { intent, clientSecret: undefined }
    const { clientSecret } = lookup.payment
    if (isFinal(intent.status)) return { intent, clientSecret }
    await ensureSellerName(payments, operation, intent)
    const applied = await payments.commit(operation, (work) =>
      applyPaymentState(work, reference, lookup, payments.hostedUrl),
    )
    return { intent: applied, clientSecret }
  } catch (error) {
    if (error instanceof PaymentProcessorUnavailableError && isFinal(intent.status)) {
      return { intent, clientSecret: undefined }
    }
    throw error
  }
}

function intentToBody(
  parts: { readonly publishableKeys: Readonly<Record<Environment, string>> },
  { environment }: Caller,
  intent: PaymentIntent,
  clientSecret: string | undefined,
): PaymentIntentBody {
  const publishableKey = parts.publishableKeys[environment]
  return paymentIntentToHttp(intent, { clientSecret, publishableKey })
}

function paymentIntentToHttp(
  intent: PaymentIntent,
  browser: { readonly clientSecret: string | undefined; readonly publishableKey: string },
): PaymentIntentBody {
  return {
    ...paymentIntentSummary(intent),
    customerRef: intent.customerRef,
    originalAmount: Number(intent.originalAmountMinor),
    exchangeRate: Number(intent.exchangeRate),
    publishableKey: browser.publishableKey,
    transactionId: intent.reference,
    expiresAt: intent.expiresAt.toISOString(),
    ...(intent.fromBalanceMinor > 0n && { fromBalance: Number(intent.fromBalanceMinor) }),
    ...definedFields({ clientSecret: browser.clientSecret }),
  }
}

/** Converts a payment intent to the shape that it has in lists. */
function paymentIntentSummary(intent: PaymentIntent) {
  const { status, planRef } = intent
  return {
    processorPaymentId: intent.processorPaymentId ?? intent.reference,
    amount: Number(intent.amountMinor),
    currency: intent.currency.toLowerCase(),
    // Until the processor has confirmed the intent, its status is already shown as waiting for the customer.
    status: status === 'creating' ? ('requires_payment_method' as const) : status,
    createdAt: intent.createdAt.toISOString(),
    ...definedFields({ planRef }),
  }
}
