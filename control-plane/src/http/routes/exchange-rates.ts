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

/** What the provider counts a dollar as. The same in both environments: a rate is no data of a customer. */
export function registerExchangeRateRoutes(app: ApiServer, parts: AppParts): void {
  const { control } = parts.database

  app.get(
    '/v1/ui/exchange-rates',
    { schema: { tags, response: { 200: exchangeRatesResponseSchema } } },
    async (request) => ({
      exchangeRates: await listExchangeRates(control, callerOf(request).providerId),
    }),
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
      const { providerId } = callerOf(request)
      const currency = request.params.currency.toUpperCase()
      if (currency === dollarRate.currency) throw refusals.dollarHasNoRate()
      const now = new Date(parts.clock.now())
      const { unitsPerDollar } = request.body
      await setExchangeRate(control, providerId, { currency, unitsPerDollar }, now)
      return (await findExchangeRate(control, providerId, currency))!
    },
  )

  app.delete(
    '/v1/ui/exchange-rates/:currency',
    { schema: { tags, params, response: { 200: z.object({ success: z.literal(true) }) } } },
    async (request) => {
      const currency = request.params.currency.toUpperCase()
      await removeExchangeRate(control, callerOf(request).providerId, currency)
      return { success: true as const }
    },
  )
}
