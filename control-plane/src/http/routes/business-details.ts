import { z } from 'zod'
import { taxPayment } from '@tollgate/domain/charging/tax-payment'
import { requiredReference } from '@tollgate/schemas/http/fields'
import {
  businessDetailsSchema,
  taxedPaymentSchema,
  type TaxedPaymentBody,
} from '@tollgate/schemas/http/payment-intents'
import type { Clock } from '@tollgate/platform/clock/clock'
import type { PaymentParts } from '@tollgate/domain/payments/payment-parts'
import { refusals } from '../../errors.ts'
import type { ApiServer } from '../../access/api-server.ts'
import { operationOf } from '../../access/caller.ts'
import { requireCustomer } from '../../access/require.ts'
import { requirePaymentIntent } from './payment-intents.ts'
import type { ReadParts } from '../../access/read.ts'
import type { TaxBreakdown } from '@tollgate/domain/invoices/tax-breakdown'

type Parts = ReadParts & {
  readonly clock: Clock
  readonly payments: PaymentParts
  readonly limits: { readonly paymentWaitMs: number }
}

/**
 * Registers the route that stores the customer's country and business details for a payment. It returns the amount with tax, which
 * the payment then charges.
 */
export function registerBusinessDetailsRoute(app: ApiServer, parts: Parts): void {
  app.post(
    '/v1/sdk/payment-intents/:paymentIntentRef/business-details',
    {
      schema: {
        tags: ['Payments'],
        params: z.object({ paymentIntentRef: requiredReference }),
        body: businessDetailsSchema,
        response: { 200: taxedPaymentSchema },
      },
    },
    async (request): Promise<TaxedPaymentBody> => {
      const operation = operationOf(request, parts.clock)
      const intent = await requirePaymentIntent(parts, operation, request.params.paymentIntentRef)
      const { customerRef, ...details } = request.body
      if (customerRef !== undefined && customerRef !== '') {
        const customer = await requireCustomer(parts, operation, customerRef)
        if (customer.reference !== intent.customerRef) {
          throw refusals.paymentCustomerMismatch(customerRef)
        }
      }
      const { payments, limits } = parts
      const outcome = await taxPayment(payments, operation, intent, details, limits.paymentWaitMs)
      switch (outcome.kind) {
        case 'taxed':
          return { taxBreakdown: taxToHttp(outcome.tax, outcome.currency) }
        case 'refused':
          throw refusals.paymentRefused(outcome.reason)
        case 'not-open':
          throw refusals.paymentNotOpen()
        case 'unknown':
          throw refusals.processorUnavailable()
      }
    },
  )
}

function taxToHttp(tax: TaxBreakdown, currency: string): TaxedPaymentBody['taxBreakdown'] {
  return {
    subtotal: Number(tax.subtotalMinor),
    taxAmount: Number(tax.taxMinor),
    taxRate: Number(tax.ratePerMille) / 1000,
    treatment: tax.treatment,
    total: Number(tax.totalMinor),
    currency,
    inclusive: tax.isInclusive,
  }
}
