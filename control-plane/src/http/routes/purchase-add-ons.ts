import { z } from 'zod'
import type { AddOnRequest } from '@tollgate/domain/billing/change-add-ons'
import {
  addOnChangedSchema,
  removeAddOnQuerySchema,
  setAddOnSchema,
} from '@tollgate/schemas/http/add-ons'
import { requiredReference } from '@tollgate/schemas/http/fields'
import type { FastifyRequest } from 'fastify'
import type { ApiServer } from '../../access/api-server.ts'
import { callerOf, operationOf } from '../../access/caller.ts'
import { refusals } from '../../errors.ts'
import { changeAndCharge, type AddOnParts } from '../../purchases/change-add-ons.ts'
import { changedPurchaseOf, type PurchaseViewParts } from '../../purchases/present-purchases.ts'

type Parts = AddOnParts & PurchaseViewParts

const path = '/v1/sdk/purchases/:purchaseRef/add-ons/:addOnRef'
const params = z.object({ purchaseRef: requiredReference, addOnRef: requiredReference })
const tags = ['Purchases']
const response = { 200: addOnChangedSchema }

/** Registers the routes that attach an add-on to a purchase, change its quantity and remove it. */
export function registerPurchaseAddOnRoutes(app: ApiServer, parts: Parts): void {
  app.put(path, { schema: { tags, params, body: setAddOnSchema, response } }, (request) => {
    const { quantity, when = 'now' } = request.body
    return change(parts, request, { ...request.params, quantity, when })
  })

  app.delete(
    path,
    { schema: { tags, params, querystring: removeAddOnQuerySchema, response } },
    (request) => {
      const { when = 'renewal' } = request.query
      return change(parts, request, { ...request.params, quantity: 0, when })
    },
  )
}

async function change(parts: Parts, request: FastifyRequest, wanted: AddOnRequest) {
  const { purchaseRef, addOnRef } = wanted
  const operation = operationOf(request, parts.clock)
  const outcome = await changeAndCharge(parts, operation, wanted)
  switch (outcome.kind) {
    case 'purchase-not-found':
      throw refusals.purchaseNotFound(purchaseRef)
    case 'add-on-not-found':
      throw refusals.addOnNotFound(addOnRef)
    case 'refused':
      throw refusals.addOnNotChangeable(addOnRef, outcome.obstacle)
    case 'changed': {
      const { purchase, effectiveAt, invoiceRef, isPaid } = outcome
      return {
        success: true as const,
        purchase: await changedPurchaseOf(parts, callerOf(request), purchase),
        effectiveAt: effectiveAt.toISOString(),
        ...(invoiceRef === undefined
          ? {}
          : { invoiceRef, payment: isPaid ? ('paid' as const) : ('open' as const) }),
      }
    }
  }
}
