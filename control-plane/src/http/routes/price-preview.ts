import { z } from 'zod'
import { findPlan } from '@tollgate/domain/catalog/plans-repository'
import { findExchangeRate } from '@tollgate/domain/money/exchange-rates'
import { fieldFault } from '@tollgate/domain/plans/field-fault'
import { currenciesOf } from '@tollgate/domain/pricing/plan-prices'
import { previewPrice } from '@tollgate/domain/pricing/preview-price'
import { requiredReference } from '@tollgate/schemas/http/fields'
import { pricePreviewRequestSchema, pricePreviewSchema } from '@tollgate/schemas/http/price-preview'
import type { ApiServer } from '../../access/api-server.ts'
import { callerOf } from '../../access/caller.ts'
import { read, type ReadParts } from '../../access/read.ts'
import { requireProduct } from '../../access/require.ts'
import { InvalidRequestError, refusals } from '../../errors.ts'
import { pricePreviewToHttp } from '../translate/price-preview.ts'

const planParams = z.object({ productRef: requiredReference, planRef: requiredReference })

/** Prices usage that did not happen. Nothing is stored, so the scope that reads the catalog is enough. */
export function registerPricePreviewRoute(app: ApiServer, parts: ReadParts): void {
  app.post(
    '/v1/sdk/products/:productRef/plans/:planRef/price-preview',
    {
      config: { scope: 'read' },
      schema: {
        tags: ['Plans'],
        params: planParams,
        body: pricePreviewRequestSchema,
        response: { 200: pricePreviewSchema },
      },
    },
    async (request) => {
      const { productRef, planRef } = request.params
      const { usage } = request.body
      const caller = callerOf(request)
      await requireProduct(parts, caller, productRef)
      return read(parts, caller, async (sql) => {
        const plan = await findPlan(sql, caller.providerId, productRef, planRef)
        if (plan === undefined) throw refusals.planNotFound(planRef)
        const currency = (request.body.currency ?? plan.currency).toUpperCase()
        const sold = currenciesOf(plan)
        const rate = sold.includes(currency)
          ? await findExchangeRate(sql, caller.providerId, currency)
          : undefined
        if (rate === undefined) {
          const message = `The plan has no price in ${currency}. Use one of: ${sold.join(', ')}.`
          throw new InvalidRequestError([fieldFault(['currency'], message)])
        }
        const conversion = { currency, unitsPerDollar: rate.unitsPerDollar }
        return pricePreviewToHttp(previewPrice(plan, usage, conversion), currency)
      })
    },
  )
}
