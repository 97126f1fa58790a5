import { z } from 'zod'
import {
  dollarRate,
  findExchangeRate,
  listExchangeRates,
  removeExchangeRate,
  setExchangeRate,
} from '@tollgate/domain/money/exchange-rates'
import {
  exchangeRateSchema,
  exchangeRatesResponseSchema,
  exchangeRateUpdateSchema,
} from '@tollgate/schemas/http/auto-recharge'
import { currencyCode } from '@tollgate/schemas/http/fields'
import { refusals } from '../../errors.ts'
import type { ApiServer } from '../../access/api-server.ts'
import { commit, type ChangeParts } from '../../access/commit.ts'
import { callerOf, operationOf } from '../../access/caller.ts'
import { read } from '../../access/read.ts'

const tags = ['Credits']
const params = z.object({ currency: currencyCode })

/** Registers the routes of the provider's exchange rates to the dollar, in the environment of the calling key. */
export function registerExchangeRateRoutes(app: ApiServer, parts: ChangeParts): void {
  app.get(
    '/v1/ui/exchange-rates',
    { schema: { tags, response: { 200: exchangeRatesResponseSchema } } },
    async (request) => {
      const caller = callerOf(request)
      const rates = await read(parts, caller, (sql) => listExchangeRates(sql, caller.providerId))
      return { exchangeRates: rates }
    },
  )

  app.put(
    '/v1/ui/exchange-rates/:currency',
    {
      schema: {
        tags,
        params,
        body: exchangeRateUpdateSchema,
        response: { 200: exchangeRateSchema },
      },
    },
    async (request) => {
      const currency = request.params.currency.toUpperCase()
      if (currency === dollarRate.currency) throw refusals.dollarHasNoRate()
      const { unitsPerDollar } = request.body
      return commit(parts, operationOf(request, parts.clock), async ({ sql, providerId, now }) => {
        await setExchangeRate(sql, providerId, { currency, unitsPerDollar }, now)
        return (await findExchangeRate(sql, providerId, currency))!
      })
    },
  )

  app.delete(
    '/v1/ui/exchange-rates/:currency',
    { schema: { tags, params, response: { 200: z.object({ success: z.literal(true) }) } } },
    async (request) => {
      const currency = request.params.currency.toUpperCase()
      await commit(parts, operationOf(request, parts.clock), ({ sql, providerId }) =>
        removeExchangeRate(sql, providerId, currency),
      )
      return { success: true as const }
    },
  )
}
