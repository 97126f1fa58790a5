import { findCustomer } from '@tollgate/domain/customers/repository'
import { listReached } from '@tollgate/domain/alerts/firings-repository'
import { listBudgets, listSpendReadings } from '@tollgate/domain/budgets/repository'
import { usageSummary } from '@tollgate/domain/entitlements/usage-view'
import { findProduct } from '@tollgate/domain/catalog/products-repository'
import { reuseOrOpenCustomerSession } from '@tollgate/domain/sessions/customer-sessions'
import { customerPageUrl } from '@tollgate/domain/sessions/hosted-pages'
import type { Operation } from '@tollgate/domain/unit-of-work/unit-of-work'
import {
  userInfoRequestSchema,
  userInfoResponseSchema,
  type UserInfoRequest,
} from '@tollgate/schemas/http/user-info'
import { reachedToHttp } from '../translate/reached-threshold.ts'
import { budgetToHttp } from './budgets.ts'
import { refusals } from '../../errors.ts'
import { presentHeldPurchase, loadDecidingPurchase } from '../../purchases/held-purchase.ts'
import type { ApiServer } from '../../access/api-server.ts'
import { commit, type ChangeParts } from '../../access/commit.ts'
import { mayManage } from '../../access/scopes.ts'
import { operationOf } from '../../access/caller.ts'
import { read, type ReadParts } from '../../access/read.ts'
import type { Queryable } from '@tollgate/platform/database/database'

type Parts = ChangeParts &
  Parameters<typeof presentHeldPurchase>[0] & {
    readonly hostedUrl: string
    readonly limits: { readonly openPortalLinksMax: number }
  }

export function registerUserInfoRoutes(app: ApiServer, parts: Parts): void {
  app.post(
    '/v1/sdk/user-info',
    {
      config: { scope: 'read' },
      schema: {
        tags: ['Customers'],
        body: userInfoRequestSchema,
        response: { 200: userInfoResponseSchema },
      },
    },
    async (request) => {
      const operation = operationOf(request, parts.clock)
      const { productRef } = request.body
      const { customer, product, loaded, control } = await loadCustomerProduct(
        parts,
        operation,
        request.body,
      )
      const purchase = await presentHeldPurchase(parts, operation, loaded)
      // The portal can change purchases, so a key without the `manage` scope gets no link to it.
      const opened = { customerRef: customer.reference, productRef }
      const verifyUrl = mayManage(request) ? await openPortal(parts, operation, opened) : null
      return {
        status: usageSummary(product.name, purchase?.usage),
        verifyUrl,
        user: {
          reference: customer.reference,
          email: customer.email,
          name: customer.name,
          externalRef: customer.externalRef,
        },
        ...(purchase === undefined ? {} : { purchase }),
        ...control,
      }
    },
  )
}

/** Reads everything in one transaction. Independent queries run concurrently, because each round trip costs more than its query. */
function loadCustomerProduct(
  parts: ReadParts,
  caller: Operation,
  { customerRef, productRef }: UserInfoRequest,
) {
  const { providerId } = caller
  return read(parts, caller, async (sql) => {
    const [customer, product] = await Promise.all([
      findCustomer(sql, providerId, customerRef),
      findProduct(sql, providerId, productRef),
    ])
    if (customer === undefined) throw refusals.customerNotFound(customerRef)
    if (product === undefined) throw refusals.productNotFound(productRef)
    const [loaded, control] = await Promise.all([
      loadDecidingPurchase(sql, caller, customer.reference, productRef),
      loadSpendControl(sql, caller, customer.reference, productRef),
    ])
    return { customer, product, loaded, control }
  })
}

/** Returns fields only if there is something to show: a customer without alerts and budget gets the response as before. */
async function loadSpendControl(
  sql: Queryable,
  { providerId, now }: Operation,
  customerRef: string,
  productRef: string,
) {
  const [all, budgets] = await Promise.all([
    listReached(sql, providerId, customerRef, now),
    listBudgets(sql, providerId, customerRef),
  ])
  const reached = all.filter(({ product }) => product === productRef)
  const budget = budgets.get(productRef)
  const readings = budget && (await listSpendReadings(sql, providerId, customerRef))
  return {
    ...(reached.length === 0 ? {} : { reached: reached.map(reachedToHttp) }),
    ...(budget && { budget: budgetToHttp(budget, readings?.get(productRef), now) }),
  }
}

async function openPortal(
  parts: Parts,
  operation: Operation,
  opened: { readonly customerRef: string; readonly productRef: string },
): Promise<string | null> {
  const portal = await commit(parts, operation, (work) =>
    reuseOrOpenCustomerSession(work, parts.limits, opened),
  )
  return portal === undefined ? null : customerPageUrl(parts.hostedUrl, portal.sessionId)
}
