import { z } from 'zod'
import { findCustomerReference } from '@tollgate/domain/customers/repository'
import { requiredReference } from '@tollgate/schemas/http/fields'
import {
  customerPurchasesQuerySchema,
  purchaseSchema,
  purchasesQuerySchema,
  purchasesResponseSchema,
  type PurchaseBody,
  type PurchasesQuery,
} from '@tollgate/schemas/http/purchases'
import { refusals } from '../../errors.ts'
import {
  loadCustomerPurchases,
  loadPurchases,
  type LoadedPurchases,
} from '../../purchases/load-purchases.ts'
import {
  fullPurchasesOf,
  presentPurchases,
  type PurchaseViewParts,
} from '../../purchases/present-purchases.ts'
import type { ApiServer } from '../../access/api-server.ts'
import { callerOf, type Caller } from '../../access/caller.ts'
import { read } from '../../access/read.ts'
import { getProduct } from '../../access/require.ts'

const tags = ['Purchases']

/** `customer` and `product` are fixed path segments. They win over `:purchaseRef` regardless of the order of registration. */
export function registerPurchaseRoutes(app: ApiServer, parts: PurchaseViewParts): void {
  app.get(
    '/v1/sdk/purchases',
    {
      schema: {
        tags,
        querystring: purchasesQuerySchema,
        response: { 200: purchasesResponseSchema },
      },
    },
    async (request) => ({ purchases: await listFiltered(parts, callerOf(request), request.query) }),
  )

  app.get(
    '/v1/sdk/purchases/:purchaseRef',
    {
      schema: {
        tags,
        params: z.object({ purchaseRef: requiredReference }),
        response: { 200: purchaseSchema },
      },
    },
    async (request) => {
      const { purchaseRef } = request.params
      const filter = { reference: purchaseRef }
      const [purchase] = await fullPurchasesOf(parts, callerOf(request), filter)
      if (purchase === undefined) throw refusals.purchaseNotFound(purchaseRef)
      return purchase
    },
  )

  app.get(
    '/v1/sdk/purchases/customer/:customerRef',
    {
      schema: {
        tags,
        params: z.object({ customerRef: requiredReference }),
        querystring: customerPurchasesQuerySchema,
        response: { 200: purchasesResponseSchema },
      },
    },
    async (request) => {
      const caller = callerOf(request)
      const { customerRef } = request.params
      const withoutFree = request.query.includeFree === 'false'
      const loaded = await loadOfCustomer(parts, caller, customerRef, withoutFree)
      return { purchases: await presentPurchases(parts, caller, loaded) }
    },
  )

  app.get(
    '/v1/sdk/purchases/product/:productRef',
    {
      schema: {
        tags,
        params: z.object({ productRef: requiredReference }),
        response: { 200: purchasesResponseSchema },
      },
    },
    async (request) => {
      const caller = callerOf(request)
      const { productRef } = request.params
      const loaded = await read(parts, caller, async (sql) => {
        await getProduct(sql, caller, productRef)
        return loadPurchases(parts, sql, caller, { productRef })
      })
      return { purchases: await presentPurchases(parts, caller, loaded) }
    },
  )
}

async function loadOfCustomer(
  parts: PurchaseViewParts,
  caller: Caller,
  customerRef: string,
  withoutFree: boolean,
): Promise<LoadedPurchases> {
  const name = { anyReference: customerRef }
  const found = await read(parts, caller, (sql) =>
    loadCustomerPurchases(parts, sql, caller, name, { withoutFree }),
  )
  if (found === undefined) throw refusals.customerNotFound(customerRef)
  return found.loaded
}

/**
 * Returns the purchases that match the filters. A customer or product that does not exist matches no purchase and is not an error.
 */
async function listFiltered(
  parts: PurchaseViewParts,
  caller: Caller,
  query: PurchasesQuery,
): Promise<PurchaseBody[]> {
  const { customerRef } = query
  const ownRef = customerRef
    ? await read(parts, caller, (sql) => findCustomerReference(sql, caller.providerId, customerRef))
    : undefined
  if (customerRef && ownRef === undefined) return []
  return fullPurchasesOf(parts, caller, {
    customerRef: ownRef,
    productRef: query.productRef || undefined,
    statuses: query.status === undefined ? undefined : [query.status],
    withoutFree: query.includeFree === 'false',
  })
}
