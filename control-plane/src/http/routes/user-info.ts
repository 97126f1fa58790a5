import { findCustomerWithSources } from '@tollgate/domain/customers/usage-sources'
import { listReached } from '@tollgate/domain/alerts/firings-repository'
import { listBudgets, listSpendReadings } from '@tollgate/domain/budgets/repository'
import { usageSummary } from '@tollgate/domain/entitlements/usage-view'
import { findProduct } from '@tollgate/domain/catalog/products-repository'
import {
  findFreshSession,
  reuseOrOpenCustomerSession,
  type CustomerSession,
} from '@tollgate/domain/sessions/customer-sessions'
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
      // The portal can change purchases, so a key without the `manage` scope gets no link to it.
      const isLinked = mayManage(request)
      const { customer, product, loaded, control, link } = await loadCustomerProduct(
        parts,
        operation,
        { ...request.body, isLinked },
      )
      const purchase = await presentHeldPurchase(parts, operation, loaded)
      const opened = { customerRef: customer.reference, productRef }
      const session = isLinked ? (link ?? (await openPortal(parts, operation, opened))) : undefined
      const verifyUrl =
        session === undefined ? null : customerPageUrl(parts.hostedUrl, session.sessionId)
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

/**
 * Reads everything in two round trips, because a round trip costs more than its statements. With `isLinked`, a link that can be used
 * again is read as well, so that a polling client causes no transaction.
 */
function loadCustomerProduct(
  parts: ReadParts,
  caller: Operation,
  { customerRef, productRef, isLinked }: UserInfoRequest & { readonly isLinked: boolean },
) {
  const { providerId } = caller
  return read(parts, caller, async (sql) => {
    const [found, product] = await Promise.all([
      findCustomerWithSources(sql, providerId, { anyReference: customerRef }),
      findProduct(sql, providerId, productRef),
    ])
    if (found === undefined) throw refusals.customerNotFound(customerRef)
    if (product === undefined) throw refusals.productNotFound(productRef)
    const { customer, sources } = found
    const held = { customerRef: customer.reference, productRef }
    const [loaded, control, link] = await Promise.all([
      loadDecidingPurchase(sql, caller, sources, held),
      loadSpendControl(sql, caller, customer.reference, productRef),
      isLinked ? findFreshSession({ ...caller, sql }, held) : undefined,
    ])
    return { customer, product, loaded, control, link }
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

function openPortal(
  parts: Parts,
  operation: Operation,
  opened: { readonly customerRef: string; readonly productRef: string },
): Promise<CustomerSession | undefined> {
  return commit(parts, operation, (work) => reuseOrOpenCustomerSession(work, parts.limits, opened))
}
