import { z } from 'zod'
import { grantCredits } from '@tollgate/domain/wallet/grant-credits'
import {
  balanceSchema,
  creditHoldsPath,
  creditHoldsResponseSchema,
  creditHoldsSchema,
  creditsGrantedSchema,
  grantCreditsSchema,
} from '@tollgate/schemas/http/credits'
import { refusals } from '../../errors.ts'
import type { ApiServer } from '../api-server.ts'
import type { AppParts } from '../app-parts.ts'
import { commit } from '../commit.ts'
import { callerOf, operationOf } from '../plugins/authentication.ts'
import { displayRateOf, requireCustomer } from '../require.ts'
import { balanceToHttp } from '../translate/balance.ts'

const tags = ['Credits']
const params = z.object({ reference: z.string() })

export function registerCreditRoutes(app: ApiServer, parts: AppParts): void {
  app.get(
    '/v1/sdk/customers/:reference/balance',
    { schema: { tags, params, response: { 200: balanceSchema } } },
    async (request) => {
      const caller = callerOf(request)
      const customer = await requireCustomer(parts, caller, request.params.reference)
      const customerRef = customer.reference
      const micros = await parts.wallets.read({ ...caller, customerRef })
      return balanceToHttp(customerRef, micros, await displayRateOf(parts, caller))
    },
  )

  app.post(
    '/v1/sdk/customers/:reference/credits',
    {
      schema: { tags, params, body: grantCreditsSchema, response: { 200: creditsGrantedSchema } },
    },
    async (request) => {
      const operation = operationOf(request, parts.clock)
      const customer = await requireCustomer(parts, operation, request.params.reference)
      const { credits, reason } = request.body
      const grant = { customerRef: customer.reference, credits, reason }
      const spentMicros = await parts.wallets.spent({ ...operation, ...grant })
      const outcome = await commit(parts, operation, (work) =>
        grantCredits(work, grant, spentMicros),
      )
      switch (outcome.kind) {
        case 'granted':
          return outcome.body
        case 'customer-not-found':
          throw refusals.customerNotFound(request.params.reference)
        case 'key-reused':
          throw refusals.idempotencyKeyReused()
        case 'full':
          throw refusals.walletFull(outcome.creditsMax)
      }
    },
  )

  app.post(
    creditHoldsPath,
    {
      config: { scope: 'ingest' },
      schema: {
        hide: true,
        body: creditHoldsSchema,
        response: { 200: creditHoldsResponseSchema },
      },
    },
    async (request) => {
      const { environment, providerId } = callerOf(request)
      const due = request.body.holds.map(({ customerRef, usageRef, dueMicros }) => {
        return { environment, providerId, customerRef, usageRef, dueMicros: BigInt(dueMicros) }
      })
      const taken = await parts.wallets.take(due)
      return {
        taken: taken.map(({ takenMicros, leftMicros }) => ({
          takenMicros: takenMicros.toString(),
          leftMicros: leftMicros.toString(),
        })),
      }
    },
  )
}
