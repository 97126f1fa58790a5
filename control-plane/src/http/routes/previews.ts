import { z } from 'zod'
import { previewCancel } from '@tollgate/domain/previews/preview-cancel'
import { previewPlan } from '@tollgate/domain/previews/preview-plan'
import { previewChange } from '@tollgate/domain/previews/preview-change'
import type { PreviewAt, PreviewParts } from '@tollgate/domain/previews/preview-invoices'
import {
  previewPurchase,
  readHeldPurchase,
  type HeldPurchase,
} from '@tollgate/domain/previews/preview-purchase'
import { requiredReference } from '@tollgate/schemas/http/fields'
import { planUpdateSchema } from '@tollgate/schemas/http/plans'
import {
  cancelPreviewSchema,
  changePreviewRequestSchema,
  changePreviewSchema,
  invoicePreviewRequestSchema,
  invoicePreviewSchema,
  planPreviewQuerySchema,
  planPreviewSchema,
} from '@tollgate/schemas/http/previews'
import type { ApiServer } from '../../access/api-server.ts'
import { callerOf } from '../../access/caller.ts'
import type { ReadParts } from '../../access/read.ts'
import { definedFields } from '../../domain/defined-fields.ts'
import { refusals } from '../../errors.ts'
import { planRefusalOf } from '../plan-refusal.ts'
import type { Previews } from '../../previews/previews.ts'
import { readWalletPreview } from '../../previews/read-wallet-preview.ts'
import type { Wallets } from '../../wallets/wallets.ts'
import {
  cancelPreviewToHttp,
  changePreviewToHttp,
  holderToHttp,
  purchasePreviewToHttp,
} from '../translate/previews.ts'

type Parts = ReadParts & { readonly previews: Previews; readonly wallets: Wallets }

const params = z.object({ purchaseRef: requiredReference })
const planParams = z.object({ productRef: requiredReference, planRef: requiredReference })
const tags = ['Purchases']
const path = '/v1/sdk/purchases/:purchaseRef'
/** A preview stores nothing, so the scope that reads purchases is enough. */
const config = { scope: 'read' } as const

export function registerPreviewRoutes(
  app: ApiServer,
  { previews, wallets, database }: Parts,
): void {
  app.post(
    `${path}/invoice-preview`,
    {
      config,
      schema: {
        ...{ tags, params, body: invoicePreviewRequestSchema.nullish() },
        response: { 200: invoicePreviewSchema },
      },
    },
    async (request) => {
      const { purchaseRef } = request.params
      const usage = request.body?.usage
      const caller = callerOf(request)
      const { held, preview, asOf } = await previews.run(caller, async (parts, at) => {
        const held = await requireHeld(parts, at, purchaseRef)
        return { held, asOf: at.now, preview: await previewPurchase(parts, at, held, usage) }
      })
      const wallet = await readWalletPreview({ wallets, database }, caller, held.purchase, usage)
      return {
        ...purchasePreviewToHttp(purchaseRef, preview, asOf),
        ...(wallet === undefined ? {} : { wallet }),
      }
    },
  )

  app.post(
    `${path}/change-preview`,
    {
      config,
      schema: {
        ...{ tags, params, body: changePreviewRequestSchema },
        response: { 200: changePreviewSchema },
      },
    },
    async (request) => {
      const { planRef, currency } = request.body
      return previews.run(callerOf(request), async (parts, at) => {
        const held = await requireHeld(parts, at, request.params.purchaseRef)
        const change = { ...held, planRef, currency: currency?.toUpperCase() }
        return changePreviewToHttp(await previewChange(parts, at, change), at.now)
      })
    },
  )

  app.post(
    `${path}/cancel-preview`,
    { config, schema: { tags, params, response: { 200: cancelPreviewSchema } } },
    async (request) => {
      const { purchaseRef } = request.params
      return previews.run(callerOf(request), async (parts, at) => {
        const held = await requireHeld(parts, at, purchaseRef)
        const preview = await previewCancel(parts, at, held)
        if (preview.kind === 'refused') {
          throw refusals.purchaseNotCancellable(purchaseRef, held.purchase.status)
        }
        return cancelPreviewToHttp(preview, at.now)
      })
    },
  )
}

/** Previews what a changed plan would cost its holders. */
export function registerPlanPreviewRoute(app: ApiServer, { previews }: Parts): void {
  app.post(
    '/v1/sdk/products/:productRef/plans/:planRef/change-preview',
    {
      config,
      schema: {
        tags: ['Plans'],
        params: planParams,
        querystring: planPreviewQuerySchema,
        body: planUpdateSchema,
        response: { 200: planPreviewSchema },
      },
    },
    async (request) => {
      const { productRef, planRef } = request.params
      const page = previews.holdersPage(request.query)
      return previews.run(callerOf(request), async (parts, at) => {
        const changed = { productRef, planRef, input: request.body, page }
        const preview = await previewPlan(parts, at, changed)
        switch (preview.kind) {
          case 'product-not-found':
            throw refusals.productNotFound(productRef)
          case 'plan-not-found':
            throw refusals.planNotFound(planRef)
          case 'refused':
            throw planRefusalOf(preview)
          case 'previewed':
            return {
              ...{ planRef, asOf: at.now.toISOString(), appliesTo: 'new_purchases' as const },
              holders: preview.holders.map(holderToHttp),
              ...{ total: preview.total, ...page },
              ...definedFields({ usageAsOf: preview.usageAsOf?.toISOString() }),
            }
        }
      })
    },
  )
}

async function requireHeld(
  parts: PreviewParts,
  at: PreviewAt,
  purchaseRef: string,
): Promise<HeldPurchase> {
  const held = await readHeldPurchase(parts, at, purchaseRef)
  if (held === undefined) throw refusals.purchaseNotFound(purchaseRef)
  return held
}
