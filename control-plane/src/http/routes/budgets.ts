import { z } from 'zod'
import { budgetStop, type Budget, type SpendReading } from '@tollgate/domain/budgets/budget'
import { listBudgets, listSpendReadings } from '@tollgate/domain/budgets/repository'
import { budgetsResponseSchema, type BudgetBody } from '@tollgate/schemas/http/alerts'
import { requiredReference } from '@tollgate/schemas/http/fields'
import type { Clock } from '@tollgate/platform/clock/clock'
import type { ApiServer } from '../../access/api-server.ts'
import { callerOf } from '../../access/caller.ts'
import { read, type ReadParts } from '../../access/read.ts'
import { getCustomer } from '../../access/require.ts'

const params = z.object({ reference: requiredReference })

/** Registers the list of a customer's budgets. Only the customer sets them, in the portal. */
export function registerBudgetRoutes(
  app: ApiServer,
  parts: ReadParts & { readonly clock: Clock },
): void {
  app.get(
    '/v1/ui/customers/:reference/budgets',
    { schema: { tags: ['Alerts'], params, response: { 200: budgetsResponseSchema } } },
    async (request) => {
      const caller = callerOf(request)
      const { budgets, readings } = await read(parts, caller, async (sql) => {
        const { providerId } = caller
        const { reference } = await getCustomer(sql, caller, request.params.reference)
        return {
          budgets: await listBudgets(sql, providerId, reference),
          readings: await listSpendReadings(sql, providerId, reference),
        }
      })
      const now = new Date(parts.clock.now())
      return {
        budgets: [...budgets.values()].map((budget) =>
          budgetToHttp(budget, readings.get(budget.productRef), now),
        ),
      }
    },
  )
}

/** `reading` is what was measured last, which may be of an earlier period. */
export function budgetToHttp(
  budget: Budget,
  reading: SpendReading | undefined,
  now: Date,
): BudgetBody {
  const { productRef, amountMinor, currency, action, updatedAt } = budget
  const current = reading !== undefined && now < reading.periodEnd ? reading : undefined
  return {
    productRef,
    amountMinor,
    currency,
    action,
    ...(current?.currency === currency
      ? {
          spentMinor: Number(current.spentMinor),
          measuredAt: current.measuredAt.toISOString(),
          periodEnd: current.periodEnd.toISOString(),
        }
      : {}),
    isStopped: budgetStop(budget, current) !== undefined,
    updatedAt: updatedAt.toISOString(),
  }
}
