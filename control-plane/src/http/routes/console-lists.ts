import { z } from 'zod'
import { listCustomers } from '@tollgate/domain/customers/list-customers'
import { findCustomerReference } from '@tollgate/domain/customers/repository'
import { decimalOfMicros } from '@tollgate/domain/money/decimal'
import { listMovements, type WalletMovement } from '@tollgate/domain/wallet/list-movements'
import {
  customersQuerySchema,
  customersResponseSchema,
  movementsQuerySchema,
  movementsResponseSchema,
  purchasesPageQuerySchema,
  purchasesPageSchema,
  type MovementBody,
} from '@tollgate/schemas/http/console-lists'
import { clampPage, requiredReference } from '@tollgate/schemas/http/fields'
import { purchasesPageOf, type PurchaseViewParts } from '../../purchases/present-purchases.ts'
import type { ApiServer } from '../../access/api-server.ts'
import { callerOf } from '../../access/caller.ts'
import { read, type ReadParts } from '../../access/read.ts'
import { requireCustomer } from '../../access/require.ts'
import { customerSummaryToHttp } from '../translate/customer.ts'
import { definedFields } from '../../domain/defined-fields.ts'

export function registerConsoleListRoutes(app: ApiServer, parts: PurchaseViewParts): void {
  app.get(
    '/v1/ui/customers',
    {
      schema: {
        tags: ['Customers'],
        querystring: customersQuerySchema,
        response: { 200: customersResponseSchema },
      },
    },
    async (request) => {
      const caller = callerOf(request)
      const page = clampPage(request.query)
      const filter = { ...page, search: request.query.search || undefined }
      const { customers, total } = await read(parts, caller, (sql) =>
        listCustomers(sql, caller.providerId, filter),
      )
      return { customers: customers.map(customerSummaryToHttp), total, ...page }
    },
  )

  app.get(
    '/v1/ui/purchases',
    {
      schema: {
        tags: ['Purchases'],
        querystring: purchasesPageQuerySchema,
        response: { 200: purchasesPageSchema },
      },
    },
    async (request) => {
      const caller = callerOf(request)
      const { status, productRef, planRef, customerRef } = request.query
      const page = clampPage(request.query)
      const ownRef = customerRef
        ? await read(parts, caller, (sql) =>
            findCustomerReference(sql, caller.providerId, customerRef),
          )
        : undefined
      // A filter that matches no customer returns an empty list, as in other lists.
      if (customerRef && ownRef === undefined) return { purchases: [], total: 0, ...page }
      const filter = {
        statuses: status === undefined ? undefined : [status],
        productRef: productRef || undefined,
        planRef: planRef || undefined,
        customerRef: ownRef,
      }
      return { ...(await purchasesPageOf(parts, caller, filter, page)), ...page }
    },
  )

  registerMovements(app, parts)
}

function registerMovements(app: ApiServer, parts: ReadParts): void {
  app.get(
    '/v1/ui/customers/:reference/credits/transactions',
    {
      schema: {
        tags: ['Credits'],
        params: z.object({ reference: requiredReference }),
        querystring: movementsQuerySchema,
        response: { 200: movementsResponseSchema },
      },
    },
    async (request) => {
      const caller = callerOf(request)
      const page = clampPage(request.query)
      const customer = await requireCustomer(parts, caller, request.params.reference)
      const { movements, total } = await read(parts, caller, (sql) =>
        listMovements(sql, caller.providerId, customer.reference, page),
      )
      return { transactions: movements.map(movementToHttp), total, ...page }
    },
  )
}

function movementToHttp(movement: WalletMovement): MovementBody {
  const { reference, kind, reason, amountMicros, createdAt } = movement
  return {
    reference,
    kind,
    credits: decimalOfMicros(amountMicros),
    createdAt: createdAt.toISOString(),
    ...definedFields({ reason }),
  }
}
