import { findCard } from '@tollgate/domain/cards/repository'
import {
  autoRechargeQuerySchema,
  paymentMethodSchema,
  type PaymentMethodBody,
} from '@tollgate/schemas/http/auto-recharge'
import type { ApiServer } from '../../access/api-server.ts'
import { callerOf } from '../../access/caller.ts'
import { read, type ReadParts } from '../../access/read.ts'
import { requireCustomer } from '../../access/require.ts'

/** Reads the card from PostgreSQL, not from the processor, so that clients may poll this route. */
export function registerPaymentMethodRoute(app: ApiServer, parts: ReadParts): void {
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
      const caller = callerOf(request)
      const { reference } = await requireCustomer(parts, caller, request.query.customerRef)
      const card = await read(parts, caller, (sql) => findCard(sql, caller.providerId, reference))
      return card === undefined ? { kind: 'none' } : { kind: 'card', ...card }
    },
  )
}
