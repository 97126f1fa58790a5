import { z } from 'zod'
import type { AddOnTerms } from '@tollgate/domain/catalog/add-on'
import { findAddOn, listAddOns } from '@tollgate/domain/catalog/add-ons-repository'
import {
  changeAddOn,
  createAddOn,
  removeAddOn,
  type AddOnName,
  type AddOnOutcome,
} from '@tollgate/domain/catalog/manage-add-ons'
import { findProduct } from '@tollgate/domain/catalog/products-repository'
import {
  addOnRemovedSchema,
  addOnSchema,
  addOnsQuerySchema,
  addOnsResponseSchema,
  createAddOnSchema,
  updateAddOnSchema,
  type AddOnBody,
  type UpdateAddOnInput,
} from '@tollgate/schemas/http/add-ons'
import { clampPage, requiredReference } from '@tollgate/schemas/http/fields'
import type { ApiServer } from '../../access/api-server.ts'
import { callerOf, operationOf } from '../../access/caller.ts'
import { commit, type ChangeParts } from '../../access/commit.ts'
import { read } from '../../access/read.ts'
import { InvalidRequestError, refusals } from '../../errors.ts'
import { addOnToHttp } from '../translate/add-ons.ts'

const path = '/v1/sdk/products/:productRef/add-ons'
const ofProduct = z.object({ productRef: requiredReference })
const params = z.object({ productRef: requiredReference, addOnRef: requiredReference })
const tags = ['Plans']

/** Registers the routes of the add-ons of a product. */
export function registerAddOnRoutes(app: ApiServer, parts: ChangeParts): void {
  registerReads(app, parts)
  registerChanges(app, parts)
}

function registerReads(app: ApiServer, parts: ChangeParts): void {
  const response = { 200: addOnsResponseSchema }
  app.get(
    path,
    { schema: { tags, params: ofProduct, querystring: addOnsQuerySchema, response } },
    async (request) => {
      const caller = callerOf(request)
      const { providerId } = caller
      const { productRef } = request.params
      const filter = { productRef, isArchived: request.query.archived === 'true' }
      return read(parts, caller, async (sql) => {
        if ((await findProduct(sql, providerId, productRef)) === undefined) {
          throw refusals.productNotFound(productRef)
        }
        const { addOns, total } = await listAddOns(
          sql,
          providerId,
          filter,
          clampPage(request.query),
        )
        return { addOns: addOns.map(addOnToHttp), total }
      })
    },
  )

  app.get(
    `${path}/:addOnRef`,
    { schema: { tags, params, response: { 200: addOnSchema } } },
    async (request) => {
      const caller = callerOf(request)
      const { productRef, addOnRef } = request.params
      const addOn = await read(parts, caller, (sql) =>
        findAddOn(sql, caller.providerId, productRef, addOnRef),
      )
      if (addOn === undefined) throw refusals.addOnNotFound(addOnRef)
      return addOnToHttp(addOn)
    },
  )
}

function registerChanges(app: ApiServer, parts: ChangeParts): void {
  app.post(
    path,
    {
      schema: { tags, params: ofProduct, body: createAddOnSchema, response: { 201: addOnSchema } },
    },
    async (request, reply) => {
      const operation = operationOf(request, parts.clock)
      const { productRef } = request.params
      const { name, price: priceMinor, planRefs } = request.body
      const terms = { ...defaults, ...termsFromHttp(request.body), name, priceMinor, planRefs }
      const outcome = await commit(parts, operation, (work) => createAddOn(work, productRef, terms))
      return reply.status(201).send(bodyOf(outcome, { productRef, addOnRef: '' }))
    },
  )

  app.patch(
    `${path}/:addOnRef`,
    { schema: { tags, params, body: updateAddOnSchema, response: { 200: addOnSchema } } },
    async (request) => {
      const operation = operationOf(request, parts.clock)
      const change = termsFromHttp(request.body)
      const outcome = await commit(parts, operation, (work) =>
        changeAddOn(work, request.params, change),
      )
      return bodyOf(outcome, request.params)
    },
  )

  app.delete(
    `${path}/:addOnRef`,
    { schema: { tags, params, response: { 200: addOnRemovedSchema } } },
    async (request) => {
      const operation = operationOf(request, parts.clock)
      const removal = await commit(parts, operation, (work) => removeAddOn(work, request.params))
      if (removal === undefined) throw refusals.addOnNotFound(request.params.addOnRef)
      return { success: true as const, archived: removal === 'archived' }
    },
  )
}

const defaults = { description: null, setupFeeMinor: 0, quantityMax: null, raises: [] }

function termsFromHttp(input: UpdateAddOnInput): Partial<AddOnTerms> {
  const { name, description, price, setupFee, maxQuantity, raises, planRefs } = input
  return {
    ...(name === undefined ? {} : { name }),
    ...(description === undefined ? {} : { description }),
    ...(price === undefined ? {} : { priceMinor: price }),
    ...(setupFee === undefined ? {} : { setupFeeMinor: setupFee }),
    ...(maxQuantity === undefined ? {} : { quantityMax: maxQuantity }),
    ...(raises === undefined ? {} : { raises }),
    ...(planRefs === undefined ? {} : { planRefs: [...new Set(planRefs)] }),
  }
}

function bodyOf(outcome: AddOnOutcome, { productRef, addOnRef }: AddOnName): AddOnBody {
  switch (outcome.kind) {
    case 'stored':
      return addOnToHttp(outcome.addOn)
    case 'product-not-found':
      throw refusals.productNotFound(productRef)
    case 'add-on-not-found':
      throw refusals.addOnNotFound(addOnRef)
    case 'invalid':
      throw new InvalidRequestError(outcome.issues)
  }
}
