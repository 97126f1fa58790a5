import { findCard } from '@tollgate/domain/cards/repository'
import { findCustomer } from '@tollgate/domain/customers/repository'
import {
  autoRechargeQuerySchema,
  paymentMethodSchema,
  type PaymentMethodBody,
} from '@tollgate/schemas/http/auto-recharge'
import { refusals } from '../../errors.ts'
import type { ApiServer } from '../api-server.ts'
import type { AppParts } from '../app-parts.ts'
import { callerOf } from '../plugins/authentication.ts'

/** Read from our own store, so that it may be polled. */
export function registerPaymentMethodRoute(app: ApiServer, parts: AppParts): void {
  app.get(
    '/v1/sdk/payment-method',
    {
      schema: {
        tags: ['Customers'],
        querystring: autoRechargeQuerySchema,
        response: { 200: paymentMethodSchema },
      },
    },
    async (request): Promise<PaymentMethodBody> => {
      const { providerId, environment } = callerOf(request)
      const { customerRef } = request.query
      const pool = parts.database.in(environment)
      const customer = await findCustomer(pool, providerId, customerRef)
      if (customer === undefined) throw refusals.customerNotFound(customerRef)
      const card = await findCard(pool, providerId, customer.reference)
      return card === undefined ? { kind: 'none' } : { kind: 'card', ...card }
    },
  )
}
