import { z } from 'zod'
import { cancelPurchase } from '@tollgate/domain/purchases/cancel-purchase'
import { reactivatePurchase } from '@tollgate/domain/purchases/reactivate-purchase'
import type { Purchase } from '@tollgate/domain/purchases/repository'
import { isEnding } from '@tollgate/domain/purchases/transitions'
import { requiredReference } from '@tollgate/schemas/http/fields'
import {
  purchaseCancelSchema,
  purchaseChangedResponseSchema,
} from '@tollgate/schemas/http/purchases'
import type { PublisherParts } from '@tollgate/domain/publishing/publisher-parts'
import { refusals } from '../../errors.ts'
import { changedPurchaseOf, type PurchaseViewParts } from '../../purchases/present-purchases.ts'
import type { ApiServer } from '../../access/api-server.ts'
import { commit } from '../../access/commit.ts'
import { definedFields } from '../../domain/defined-fields.ts'
import { callerOf, operationOf } from '../../access/caller.ts'

type Parts = PurchaseViewParts & { readonly publisher: PublisherParts }

/** Returns the message about a purchase that was cancelled after the notice of the running period had passed. */
function noticeMessage(purchase: Purchase): string | undefined {
  const { nextBillingDate, endDate } = purchase
  if (!isEnding(purchase) || nextBillingDate === null || endDate === null) return undefined
  return `The notice for the running period has passed. The purchase renews on ${dayOf(nextBillingDate)} and ends on ${dayOf(endDate)}.`
}

function dayOf(instant: Date): string {
  return instant.toISOString().slice(0, 10)
}

const tags = ['Purchases']
const params = z.object({ purchaseRef: requiredReference })
const response = { 200: purchaseChangedResponseSchema }

export function registerPurchaseChangeRoutes(app: ApiServer, parts: Parts): void {
  app.post(
    '/v1/sdk/purchases/:purchaseRef/cancel',
    { schema: { tags, params, body: purchaseCancelSchema.nullish(), response } },
    async (request) => {
      const { purchaseRef } = request.params
      const reason = request.body?.reason ?? null
      const outcome = await commit(parts, operationOf(request, parts.clock), (work) =>
        cancelPurchase(work, purchaseRef, reason),
      )
      switch (outcome.kind) {
        case 'not-found':
          throw refusals.purchaseNotFound(purchaseRef)
        case 'refused':
          throw refusals.purchaseNotCancellable(purchaseRef, outcome.purchase.status)
        case 'cancelled':
          return {
            success: true as const,
            purchase: await changedPurchaseOf(parts, callerOf(request), outcome.purchase),
            ...definedFields({ message: noticeMessage(outcome.purchase) }),
          }
      }
    },
  )

  app.post(
    '/v1/sdk/purchases/:purchaseRef/reactivate',
    { schema: { tags, params, response } },
    async (request) => {
      const { purchaseRef } = request.params
      const outcome = await commit(parts, operationOf(request, parts.clock), (work) =>
        reactivatePurchase(work, purchaseRef),
      )
      switch (outcome.kind) {
        case 'not-found':
          throw refusals.purchaseNotFound(purchaseRef)
        case 'refused': {
          const { reason, purchase } = outcome
          throw refusals.purchaseNotReactivable(purchaseRef, reason, purchase.status)
        }
        case 'reactivated':
          return {
            success: true as const,
            purchase: await changedPurchaseOf(parts, callerOf(request), outcome.purchase),
          }
      }
    },
  )
}
