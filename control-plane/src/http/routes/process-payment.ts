import { z } from 'zod'
import type { PaymentIntent } from '@tollgate/domain/payments/payment-intent'
import { awaitPayment } from '@tollgate/domain/settlement/await-payment'
import { listPurchases, type Purchase } from '@tollgate/domain/purchases/repository'
import { requiredReference } from '@tollgate/schemas/http/fields'
import {
  processedPaymentSchema,
  processPaymentSchema,
  type ProcessPayment,
  type ProcessedPaymentBody,
} from '@tollgate/schemas/http/payment-intents'
import type { PaymentParts } from '@tollgate/domain/payments/payment-parts'
import { refusals } from '../../errors.ts'
import { briefPurchaseOf, type PurchaseViewParts } from '../../purchases/present-purchases.ts'
import type { ApiServer } from '../../access/api-server.ts'
import { operationOf, type Caller } from '../../access/caller.ts'
import { read, type ReadParts } from '../../access/read.ts'
import { requireCustomer } from '../../access/require.ts'
import { definedFields } from '../../domain/defined-fields.ts'
import { requirePaymentIntent } from './payment-intents.ts'

type Parts = PurchaseViewParts & {
  readonly payments: PaymentParts
  readonly limits: { readonly paymentWaitMs: number }
}

const timeoutMessage =
  'The payment has not been settled in time. Retry later; if it stays like this, the webhooks of the payment processor may not arrive'

/**
 * Registers the route that waits for a payment that the customer has confirmed. This route, a webhook or a job may see the success
 * first; that one books it. A payment is booked only once, also if several of them see it at the same time.
 */
export function registerProcessPaymentRoute(app: ApiServer, parts: Parts): void {
  app.post(
    '/v1/sdk/payment-intents/:paymentIntentRef/process',
    {
      schema: {
        tags: ['Payments'],
        params: z.object({ paymentIntentRef: requiredReference }),
        body: processPaymentSchema,
        response: { 200: processedPaymentSchema },
      },
    },
    async (request): Promise<ProcessedPaymentBody> => {
      const operation = operationOf(request, parts.clock)
      const intent = await requirePaymentIntent(parts, operation, request.params.paymentIntentRef)
      await requireSameSale(parts, operation, intent, request.body)
      const { payments, limits } = parts
      const waitMs = limits.paymentWaitMs
      const settled = await awaitPayment(payments, operation, intent.reference, waitMs)
      switch (settled.kind) {
        case 'succeeded':
          return succeededBody(parts, operation, settled.intent)
        case 'processing':
        case 'failed':
          return { status: settled.kind }
        case 'canceled':
          return { status: 'cancelled' }
        case 'late':
          return { status: 'timeout', message: timeoutMessage }
        case 'unconfirmed':
          throw refusals.paymentNotSucceeded('requires_payment_method')
      }
    },
  )
}

/**
 * Refuses a body that names another customer, product or plan than the payment. Otherwise a client that confuses two payments would
 * give its customer the purchase of another customer. References that the client omits are not compared.
 */
async function requireSameSale(
  parts: ReadParts,
  caller: Caller,
  intent: PaymentIntent,
  { customerRef, productRef, planRef }: ProcessPayment,
): Promise<void> {
  const customer = await requireCustomer(parts, caller, customerRef)
  if (customer.reference !== intent.customerRef) {
    throw refusals.paymentCustomerMismatch(customerRef)
  }
  // A payment for credits belongs to no product, so the product of the page is not compared.
  if (productRef && intent.productRef !== null && productRef !== intent.productRef) {
    throw refusals.paymentSaleMismatch('product', productRef)
  }
  if (planRef && intent.planRef !== null && planRef !== intent.planRef) {
    throw refusals.paymentSaleMismatch('plan', planRef)
  }
}

async function succeededBody(
  parts: Parts,
  caller: Caller,
  intent: PaymentIntent,
): Promise<ProcessedPaymentBody> {
  const { purchaseRef, purpose, refundWanted, planSnapshot } = intent
  // The payment succeeded but could not be fulfilled, so it is being refunded.
  if (refundWanted) return { status: 'failed' }
  if (purpose !== 'product' || purchaseRef === null) return { status: 'succeeded' }
  const [purchase] = await read(parts, caller, (sql) =>
    listPurchases(sql, caller.providerId, { reference: purchaseRef, rowsMax: 1 }),
  )
  if (purchase === undefined) return { status: 'succeeded' }
  const brief = await briefPurchaseOf(parts, caller, purchase)
  if (planSnapshot?.type !== 'one-time') {
    return { status: 'succeeded', type: 'recurring', purchase: brief }
  }
  const oneTimePurchase = oneTimeToHttp(purchase, intent)
  return { status: 'succeeded', type: 'one-time', oneTimePurchase, purchase: brief }
}

function oneTimeToHttp(purchase: Purchase, { credits, succeededAt }: PaymentIntent) {
  return {
    reference: purchase.reference,
    productRef: purchase.productRef,
    amount: purchase.amountMinor,
    currency: purchase.currency,
    completedAt: (succeededAt ?? purchase.createdAt).toISOString(),
    ...definedFields({ creditsAdded: credits === null ? undefined : Number(credits) }),
  }
}
