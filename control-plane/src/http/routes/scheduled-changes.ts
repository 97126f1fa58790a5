import { z } from 'zod'
import { withdrawChange } from '@tollgate/domain/plan-migrations/withdraw-change'
import { scheduleChange } from '@tollgate/domain/purchases/schedule-change'
import { requiredReference } from '@tollgate/schemas/http/fields'
import { purchaseChangedResponseSchema } from '@tollgate/schemas/http/purchases'
import {
  scheduledChangeSchema,
  type ScheduledChangeInput,
} from '@tollgate/schemas/http/scheduled-changes'
import { scheduledDaysMax } from '@tollgate/schemas/limits'
import type { FastifyRequest } from 'fastify'
import type { ApiServer } from '../../access/api-server.ts'
import { callerOf, operationOf } from '../../access/caller.ts'
import { commit, type ChangeParts } from '../../access/commit.ts'
import { invalidField, refusals } from '../../errors.ts'
import { changedPurchaseOf, type PurchaseViewParts } from '../../purchases/present-purchases.ts'

const path = '/v1/sdk/purchases/:purchaseRef/scheduled-change'
const params = z.object({ purchaseRef: requiredReference })
const tags = ['Purchases']
const response = { 200: purchaseChangedResponseSchema }
const dayMs = 86_400_000

/** Registers the routes that schedule a change of plan of one purchase, and withdraw it. */
export function registerScheduledChangeRoutes(
  app: ApiServer,
  parts: PurchaseViewParts & ChangeParts,
): void {
  app.put(path, { schema: { tags, params, body: scheduledChangeSchema, response } }, (request) =>
    schedule(parts, request, request.params.purchaseRef, request.body),
  )

  app.delete(path, { schema: { tags, params, response } }, async (request) => {
    const { purchaseRef } = request.params
    const purchase = await commit(parts, operationOf(request, parts.clock), (work) =>
      withdrawChange(work, purchaseRef),
    )
    if (purchase === undefined) throw refusals.purchaseNotFound(purchaseRef)
    const body = await changedPurchaseOf(parts, callerOf(request), purchase)
    return { success: true as const, purchase: body }
  })
}

async function schedule(
  parts: PurchaseViewParts & ChangeParts,
  request: FastifyRequest,
  purchaseRef: string,
  { planRef, effectiveAt, billing = 'prorate' }: ScheduledChangeInput,
) {
  const operation = operationOf(request, parts.clock)
  const at = effectiveAt === undefined ? undefined : timeOfChange(effectiveAt, operation.now)
  const wanted = {
    ...{ purchaseRef, planRef, effectiveAt: at },
    billing: at === undefined ? undefined : billing,
  }
  const outcome = await commit(parts, operation, (work) => scheduleChange(work, wanted))
  switch (outcome.kind) {
    case 'purchase-not-found':
      throw refusals.purchaseNotFound(purchaseRef)
    case 'plan-not-found':
      throw refusals.planNotFound(planRef)
    case 'refused':
      throw refusals.changeNotSchedulable(purchaseRef, outcome.obstacle)
    case 'scheduled':
      return {
        success: true as const,
        purchase: await changedPurchaseOf(parts, callerOf(request), outcome.purchase),
      }
  }
}

function timeOfChange(effectiveAt: string, now: Date): Date {
  const at = new Date(effectiveAt)
  const latest = new Date(now.getTime() + scheduledDaysMax * dayMs)
  if (at < now || at > latest) {
    throw invalidField('effectiveAt', `Use a time from now to ${latest.toISOString()}.`)
  }
  return at
}
