import { isAdditive } from '@tollgate/schemas/meter-reading'
import { countPurchasesByStatus } from '@tollgate/domain/purchases/repository'
import { countCustomers } from '@tollgate/domain/customers/list-customers'
import { listReferences } from '@tollgate/domain/customers/repository'
import { countProducts } from '@tollgate/domain/catalog/products-repository'
import { findMeter } from '@tollgate/domain/meters/repository'
import {
  overviewSchema,
  usageBreakdownQuerySchema,
  usageBreakdownSchema,
  usageOverTimeSchema,
  usageQuerySchema,
  type UsageOverTimeBody,
} from '@tollgate/schemas/http/console-usage'
import { clampPage } from '@tollgate/schemas/http/fields'
import { requestsMeterName } from '@tollgate/schemas/http/meter-events'
import { purchaseStatuses } from '@tollgate/schemas/http/purchases'
import type { z } from 'zod'
import type { Clock } from '@tollgate/platform/clock/clock'
import type { Logger } from '@tollgate/platform/observability/logger'
import type { UsageStore } from '@tollgate/platform/usage-store/usage-store'
import { invalidField, refusals } from '../../errors.ts'
import type { RolledUpQuery } from '../../usage/query-rolled-up-usage.ts'
import { usageBreakdown } from '../../usage/usage-breakdown.ts'
import { usageOverTime, wholeHours } from '../../usage/usage-over-time.ts'
import type { ApiServer } from '../../access/api-server.ts'
import { callerOf, type Caller } from '../../access/caller.ts'
import { read, type ReadParts } from '../../access/read.ts'
import { requireCustomer, requireProduct } from '../../access/require.ts'

type Parts = ReadParts & {
  readonly clock: Clock
  readonly logger: Logger
  readonly usageStore: UsageStore
  readonly limits: { readonly bucketsMax: number }
}

export function registerConsoleUsageRoutes(app: ApiServer, parts: Parts): void {
  app.get(
    '/v1/ui/usage',
    {
      schema: {
        tags: ['Usage'],
        querystring: usageQuerySchema,
        response: { 200: usageOverTimeSchema },
      },
    },
    async (request) => {
      const { query } = request
      const { bucketsMax } = parts.limits
      const usageQuery = await toQuery(parts, callerOf(request), query)
      const meterName = usageQuery.meterName ?? requestsMeterName
      const meterQuery = { ...usageQuery, meterName }
      const body = await usageOverTime(parts.usageStore, meterQuery, query.granularity, bucketsMax)
      if (body === undefined) throw invalidField('to', `At most ${bucketsMax} buckets are allowed`)
      return body
    },
  )

  app.get(
    '/v1/ui/usage/breakdown',
    {
      schema: {
        tags: ['Usage'],
        querystring: usageBreakdownQuerySchema,
        response: { 200: usageBreakdownSchema },
      },
    },
    async (request) => {
      const { by } = request.query
      const { limit } = clampPage(request.query)
      const usageQuery = await toQuery(parts, callerOf(request), request.query)
      // Each meter has its own unit, so usage of several meters is shown side by side but never added up.
      const shownMeterName =
        by === 'meter' ? usageQuery.meterName : (usageQuery.meterName ?? requestsMeterName)
      return usageBreakdown(parts, { ...usageQuery, meterName: shownMeterName }, by, limit)
    },
  )

  app.get(
    '/v1/ui/overview',
    { schema: { tags: ['Console'], response: { 200: overviewSchema } } },
    async (request) => {
      const caller = callerOf(request)
      const { providerId } = caller
      const counts = await read(parts, caller, async (sql) => ({
        customers: await countCustomers(sql, providerId),
        products: await countProducts(sql, providerId),
        byStatus: await countPurchasesByStatus(sql, providerId),
      }))
      const { customers, products, byStatus } = counts
      const purchases = Object.fromEntries(
        purchaseStatuses.map((status) => [status, byStatus.get(status) ?? 0]),
      ) as z.infer<typeof overviewSchema>['purchases']
      const usage = await recentUsage(parts, caller)
      return { customers, products, purchases, ...(usage === undefined ? {} : { usage }) }
    },
  )
}

const shownDays = 30
const dayMs = 86_400_000

/** Returns the usage of today and the days before it. The overview is shown without it if the query fails. */
async function recentUsage(parts: Parts, caller: Caller): Promise<UsageOverTimeBody | undefined> {
  const endMs = (Math.floor(parts.clock.now() / dayMs) + 1) * dayMs
  const query = {
    ...caller,
    meterName: requestsMeterName,
    productRefs: undefined,
    customerRefs: undefined,
    range: { startMs: endMs - shownDays * dayMs, endMs },
  }
  try {
    return await usageOverTime(parts.usageStore, query, 'day', shownDays)
  } catch (error) {
    parts.logger.warn({ err: error }, 'the overview is shown without usage')
    return undefined
  }
}

type ConsoleUsageQuery = Omit<z.infer<typeof usageQuerySchema>, 'granularity'>

async function toQuery(
  parts: ReadParts,
  caller: Caller,
  usageQuery: ConsoleUsageQuery,
): Promise<RolledUpQuery> {
  const range = { startMs: Date.parse(usageQuery.from), endMs: Date.parse(usageQuery.to) }
  if (range.startMs > range.endMs) throw invalidField('to', 'Must not be before `from`')
  const { productRef, customerRef, meterRef } = usageQuery
  if (productRef) await requireProduct(parts, caller, productRef)
  return {
    ...caller,
    meterName: meterRef ? await meterNameOf(parts, caller, meterRef) : undefined,
    productRefs: productRef ? [productRef] : undefined,
    customerRefs: customerRef ? await requireReferences(parts, caller, customerRef) : undefined,
    range: wholeHours(range),
  }
}

async function meterNameOf(parts: ReadParts, caller: Caller, meterRef: string): Promise<string> {
  const meter = await read(parts, caller, (sql) => findMeter(sql, caller.providerId, meterRef))
  if (meter === undefined) throw refusals.meterNotFound(meterRef)
  if (!isAdditive(meter.aggregation)) {
    throw invalidField(
      'meterRef',
      `Usage of the aggregation ${meter.aggregation} cannot be added up. Use /ui/meters/${meterRef}/usage`,
    )
  }
  return meter.name
}

async function requireReferences(
  parts: ReadParts,
  caller: Caller,
  customerRef: string,
): Promise<string[]> {
  const { reference } = await requireCustomer(parts, caller, customerRef)
  return read(parts, caller, (sql) => listReferences(sql, caller.providerId, reference))
}
