import { findAssetNames } from '@tollgate/domain/merchants/assets'
import { changeMerchant, findMerchant } from '@tollgate/domain/merchants/repository'
import {
  merchantSchema,
  merchantUpdateSchema,
  platformConfigSchema,
  type MerchantBody,
} from '@tollgate/schemas/http/merchants'
import type { ApiServer } from '../api-server.ts'
import type { AppParts } from '../app-parts.ts'
import { callerOf, type Caller } from '../plugins/authentication.ts'
import { requireProvider } from '../require.ts'
import { merchantToHttp } from '../translate/merchant.ts'

const tags = ['Merchant']

export function registerMerchantRoutes(app: ApiServer, parts: AppParts): void {
  app.get('/v1/sdk/merchant', { schema: { tags, response: { 200: merchantSchema } } }, (request) =>
    merchantOf(parts, callerOf(request)),
  )

  app.patch(
    '/v1/ui/merchant',
    { schema: { tags, body: merchantUpdateSchema, response: { 200: merchantSchema } } },
    async (request) => {
      const { providerId, environment } = callerOf(request)
      const { supportedTopupCurrencies, country, ...change } = request.body
      const topupCurrencies = supportedTopupCurrencies?.map((code) => code.toUpperCase())
      const now = new Date(parts.clock.now())
      await changeMerchant(
        parts.database.in(environment),
        providerId,
        { ...change, country: country?.toUpperCase() ?? country, topupCurrencies },
        now,
      )
      return merchantOf(parts, { providerId, environment })
    },
  )

  app.get(
    '/v1/sdk/platform-config',
    { schema: { tags, response: { 200: platformConfigSchema } } },
    (request) => {
      const stripePublishableKey = parts.publishableKeys[callerOf(request).environment]
      return stripePublishableKey === '' ? {} : { stripePublishableKey }
    },
  )
}

async function merchantOf(parts: AppParts, caller: Caller): Promise<MerchantBody> {
  const { providerId, environment } = caller
  const pool = parts.database.in(environment)
  const provider = await requireProvider(parts, caller)
  const merchant = await findMerchant(pool, providerId)
  const assets = await findAssetNames(pool, providerId)
  return merchantToHttp(provider, merchant, assets, parts.hostedUrl)
}
