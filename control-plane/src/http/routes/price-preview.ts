import { setImmediate as nextTurn } from 'node:timers/promises'
import { z } from 'zod'
import { findPlan } from '@tollgate/domain/catalog/plans-repository'
import { findExchangeRate } from '@tollgate/domain/money/exchange-rates'
import { fieldFault } from '@tollgate/domain/plans/field-fault'
import type { Plan } from '@tollgate/domain/plans/plan'
import { reviseUnsaved } from '@tollgate/domain/previews/revise-unsaved'
import type { CreditConversion } from '@tollgate/domain/pricing/line-inputs'
import { currenciesOf } from '@tollgate/domain/pricing/plan-prices'
import { previewPrice, type PricePreview } from '@tollgate/domain/pricing/preview-price'
import { requiredReference } from '@tollgate/schemas/http/fields'
import {
  priceCurveRequestSchema,
  priceCurveSchema,
  pricePreviewRequestSchema,
  pricePreviewSchema,
} from '@tollgate/schemas/http/price-preview'
import type { PlanUpdateInput } from '@tollgate/schemas/http/plans'
import type { ApiServer } from '../../access/api-server.ts'
import { callerOf, type Caller } from '../../access/caller.ts'
import { read, type ReadParts } from '../../access/read.ts'
import { requireProduct, requireProvider } from '../../access/require.ts'
import { InvalidRequestError, refusals } from '../../errors.ts'
import { planRefusalOf } from '../plan-refusal.ts'
import { priceCurveToHttp, pricePreviewToHttp } from '../translate/price-preview.ts'

const params = z.object({ productRef: requiredReference, planRef: requiredReference })
const tags = ['Plans']
/** Nothing is stored, so the scope that reads the catalog is enough. */
const config = { scope: 'read' } as const
const path = '/v1/sdk/products/:productRef/plans/:planRef'

/** Registers the routes that price usage that did not happen, on a plan as it is or with changes that are not saved. */
export function registerPricePreviewRoutes(app: ApiServer, parts: ReadParts): void {
  app.post(
    `${path}/price-preview`,
    {
      config,
      schema: {
        ...{ tags, params, body: pricePreviewRequestSchema },
        response: { 200: pricePreviewSchema },
      },
    },
    async (request) => {
      const { usage } = request.body
      const { plan, conversion } = await pricedPlan(parts, callerOf(request), request)
      return pricePreviewToHttp(previewPrice(plan, usage, conversion), conversion.currency)
    },
  )

  app.post(
    `${path}/price-curve`,
    {
      config,
      schema: {
        ...{ tags, params, body: priceCurveRequestSchema },
        response: { 200: priceCurveSchema },
      },
    },
    async (request) => {
      const { meter, dimensions, units, usage = [] } = request.body
      const { plan, conversion } = await pricedPlan(parts, callerOf(request), request)
      const previews: PricePreview[] = []
      for (const each of units) {
        const usageAt = [{ meter, dimensions, units: each }, ...usage]
        previews.push(previewPrice(plan, usageAt, conversion))
        // A plan can have many charges and rows. Other requests are served between the points.
        await nextTurn()
      }
      return priceCurveToHttp(plan, conversion.currency, units, previews)
    },
  )
}

type Asked = {
  readonly params: z.infer<typeof params>
  readonly body: {
    readonly currency?: string | undefined
    readonly changes?: PlanUpdateInput | undefined
  }
}

/** Returns the plan with the changes of the request, and the currency in which it is priced. */
async function pricedPlan(
  parts: ReadParts,
  caller: Caller,
  { params: { productRef, planRef }, body }: Asked,
): Promise<{ readonly plan: Plan; readonly conversion: CreditConversion }> {
  await requireProduct(parts, caller, productRef)
  const { defaultCurrency } = await requireProvider(parts, caller)
  const { providerId } = caller
  return read(parts, caller, async (sql) => {
    const saved = await findPlan(sql, providerId, productRef, planRef)
    if (saved === undefined) throw refusals.planNotFound(planRef)
    const { changes } = body
    const revised =
      changes === undefined
        ? { kind: 'accepted' as const, plan: saved }
        : await reviseUnsaved({ sql, providerId }, saved, changes, defaultCurrency)
    if (revised.kind === 'refused') throw planRefusalOf(revised)
    const { plan } = revised
    const currency = (body.currency ?? plan.currency).toUpperCase()
    const sold = currenciesOf(plan)
    const rate = sold.includes(currency)
      ? await findExchangeRate(sql, providerId, currency)
      : undefined
    if (rate === undefined) {
      const message = `The plan has no price in ${currency}. Use one of: ${sold.join(', ')}.`
      throw new InvalidRequestError([fieldFault(['currency'], message)])
    }
    return { plan, conversion: { currency, unitsPerDollar: rate.unitsPerDollar } }
  })
}
