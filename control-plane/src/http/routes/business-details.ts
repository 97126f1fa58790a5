import { z } from 'zod'
import { taxPayment } from '@tollgate/domain/charging/tax-payment'
import { requiredReference } from '@tollgate/schemas/http/fields'
import {
  businessDetailsSchema,
  taxedPaymentSchema,
  type TaxedPaymentBody,
} from '@tollgate/schemas/http/payment-intents'
import { refusals } from '../../errors.ts'
import type { ApiServer } from '../../access/api-server.ts'
import type { AppParts } from '../app-parts.ts'
import { operationOf } from '../../access/caller.ts'
import { requireCustomer } from '../../access/require.ts'
import { taxToHttp } from '../translate/tax.ts'
import { requirePaymentIntent } from './payment-intents.ts'

/** Where a customer is and as what it buys: what its payment comes to with the tax, which the payment then asks for. */
export function registerBusinessDetailsRoute(app: ApiServer, parts: AppParts): void {
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
      const { customerRef, ...told } = request.body
      if (customerRef !== undefined && customerRef !== '') {
        const customer = await requireCustomer(parts, operation, customerRef)
        if (customer.reference !== intent.customerRef) {
          throw refusals.paymentOfAnotherCustomer(customerRef)
        }
      }
      const { payments, limits } = parts
      const outcome = await taxPayment(payments, operation, intent, told, limits.paymentWaitMs)
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
