import { z } from 'zod'
import { changeProduct } from '@tollgate/domain/catalog/change-product'
import { cloneProduct } from '@tollgate/domain/mcp/clone-product'
import { createProduct } from '@tollgate/domain/catalog/create-product'
import { deleteProduct } from '@tollgate/domain/deletion/delete-product'
import { listProducts, type Product } from '@tollgate/domain/catalog/products-repository'
import { clampPage, requiredReference } from '@tollgate/schemas/http/fields'
import {
  productCloneSchema,
  productCreateSchema,
  productDeletedResponseSchema,
  productSchema,
  productsQuerySchema,
  productsResponseSchema,
  productUpdateSchema,
  type ProductBody,
} from '@tollgate/schemas/http/products'
import type { Environment } from '@tollgate/schemas/environment'
import { InvalidRequestError, refusals } from '../../errors.ts'
import type { ApiServer } from '../../access/api-server.ts'
import { commit, type ChangeParts } from '../../access/commit.ts'
import { callerOf, operationOf, type Caller } from '../../access/caller.ts'
import { presentProduct, presentProducts } from '../present-products.ts'
import { read } from '../../access/read.ts'
import { requireAllowedLinks } from '../../access/require-links.ts'
import { requireProduct } from '../../access/require.ts'

type Parts = ChangeParts & {
  readonly mcpProxyUrls: Readonly<Record<Environment, string>>
  readonly hostedUrl: string
}

const params = z.object({ productRef: requiredReference })
const tags = ['Products']

export function registerProductRoutes(app: ApiServer, parts: Parts): void {
  const toBody: ProductToBody = (caller, product) => presentProduct(parts, caller, product)

  app.get(
    '/v1/sdk/products',
    {
      schema: { tags, querystring: productsQuerySchema, response: { 200: productsResponseSchema } },
    },
    async (request) => {
      const caller = callerOf(request)
      const { search, status, isMcpPay } = request.query
      const page = clampPage(request.query)
      const filter = {
        ...page,
        search,
        status,
        isMcpPay: isMcpPay === undefined ? undefined : isMcpPay === 'true',
      }
      return read(parts, caller, async (sql) => {
        const { products, total } = await listProducts(sql, caller.providerId, filter)
        return { products: await presentProducts(sql, parts, caller, products), total, ...page }
      })
    },
  )

  app.get(
    '/v1/sdk/products/:productRef',
    { schema: { tags, params, response: { 200: productSchema } } },
    async (request) => {
      const caller = callerOf(request)
      return toBody(caller, await requireProduct(parts, caller, request.params.productRef))
    },
  )

  registerWrites(app, parts, toBody)
  registerDeleteAndClone(app, parts, toBody)
}

type ProductToBody = (caller: Caller, product: Product) => Promise<ProductBody>

function registerWrites(
  app: ApiServer,
  parts: ChangeParts & { readonly hostedUrl: string },
  toBody: ProductToBody,
): void {
  app.post(
    '/v1/sdk/products',
    { schema: { tags, body: productCreateSchema, response: { 201: productSchema } } },
    async (request, reply) => {
      const { body } = request
      await requireAllowedLinks(parts, callerOf(request), { imageUrl: body.imageUrl })
      const product = await commit(parts, operationOf(request, parts.clock), (work) =>
        createProduct(work, {
          name: body.name,
          description: body.description ?? null,
          imageUrl: body.imageUrl ?? null,
          productType: body.productType ?? null,
          isMcpPay: body.isMcpPay ?? false,
          config: body.config ?? null,
          metadata: body.metadata ?? {},
          taxBehavior: body.taxBehavior ?? null,
        }),
      )
      return reply.code(201).send(await toBody(callerOf(request), product))
    },
  )

  app.put(
    '/v1/sdk/products/:productRef',
    { schema: { tags, params, body: productUpdateSchema, response: { 200: productSchema } } },
    async (request) => {
      const { productRef } = request.params
      await requireAllowedLinks(parts, callerOf(request), { imageUrl: request.body.imageUrl })
      const product = await commit(parts, operationOf(request, parts.clock), (work) =>
        changeProduct(work, productRef, request.body),
      )
      if (product === undefined) throw refusals.productNotFound(productRef)
      return toBody(callerOf(request), product)
    },
  )
}

function registerDeleteAndClone(app: ApiServer, parts: ChangeParts, toBody: ProductToBody): void {
  app.delete(
    '/v1/sdk/products/:productRef',
    { schema: { tags, params, response: { 200: productDeletedResponseSchema } } },
    async (request) => {
      const { productRef } = request.params
      const action = await commit(parts, operationOf(request, parts.clock), (work) =>
        deleteProduct(work, productRef),
      )
      if (action === undefined) throw refusals.productNotFound(productRef)
      return { success: true as const, action }
    },
  )

  app.post(
    '/v1/sdk/products/:productRef/clone',
    // The body is optional.
    {
      schema: {
        tags,
        params,
        body: productCloneSchema.nullish(),
        response: { 201: productSchema },
      },
    },
    async (request, reply) => {
      const { productRef } = request.params
      const outcome = await commit(parts, operationOf(request, parts.clock), (work) =>
        cloneProduct(work, productRef, request.body?.name),
      )
      switch (outcome.kind) {
        case 'cloned':
          return reply.code(201).send(await toBody(callerOf(request), outcome.product))
        case 'not-found':
          throw refusals.productNotFound(productRef)
        case 'refused':
          throw new InvalidRequestError(outcome.issues)
      }
    },
  )
}
