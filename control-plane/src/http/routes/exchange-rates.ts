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
import type { ApiServer } from '../api-server.ts'
import type { AppParts } from '../app-parts.ts'
import { callerOf } from '../plugins/authentication.ts'

const tags = ['Credits']
const params = z.object({ currency: currencyCode })

/** What the provider counts a dollar as, in the environment of the calling key. */
export function registerExchangeRateRoutes(app: ApiServer, parts: AppParts): void {
  app.get(
    '/v1/ui/exchange-rates',
    { schema: { tags, response: { 200: exchangeRatesResponseSchema } } },
    async (request) => {
      const { providerId, environment } = callerOf(request)
      const pool = parts.database.in(environment)
      return { exchangeRates: await listExchangeRates(pool, providerId) }
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
      const { providerId, environment } = callerOf(request)
      const pool = parts.database.in(environment)
      const currency = request.params.currency.toUpperCase()
      if (currency === dollarRate.currency) throw refusals.dollarHasNoRate()
      const now = new Date(parts.clock.now())
      const { unitsPerDollar } = request.body
      await setExchangeRate(pool, providerId, { currency, unitsPerDollar }, now)
      return (await findExchangeRate(pool, providerId, currency))!
    },
  )

  app.delete(
    '/v1/ui/exchange-rates/:currency',
    { schema: { tags, params, response: { 200: z.object({ success: z.literal(true) }) } } },
    async (request) => {
      const currency = request.params.currency.toUpperCase()
      const { providerId, environment } = callerOf(request)
      await removeExchangeRate(parts.database.in(environment), providerId, currency)
      return { success: true as const }
    },
  )
}
