import { isAdditive } from '@tollgate/schemas/meter-reading'
import { listReferences } from '@tollgate/domain/customers/repository'
import { findMeter } from '@tollgate/domain/meters/repository'
import {
  usageBreakdownQuerySchema,
  usageBreakdownSchema,
  usageOverTimeSchema,
  usageQuerySchema,
} from '@tollgate/schemas/http/console-usage'
import { clampPage } from '@tollgate/schemas/http/fields'
import { requestsMeterName } from '@tollgate/schemas/http/meter-events'
import type { z } from 'zod'
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
