import { z } from 'zod'
import { findMeter, type Meter } from '@tollgate/domain/meters/repository'
import { requiredReference } from '@tollgate/schemas/http/fields'
import {
  meterUsageQuerySchema,
  meterUsageResponseSchema,
  type MeterUsageQuery,
  type MeterUsageResponse,
} from '@tollgate/schemas/http/meters'
import type { UsageFormat } from '@tollgate/schemas/http/usage-query'
import type { UsageStore } from '@tollgate/platform/usage-store/usage-store'
import type { Environment } from '@tollgate/schemas/environment'
import type { EventLog } from '@tollgate/platform/event-log/event-log'
import type { TimeRange } from '../../domain/usage-buckets.ts'
import { invalidField, refusals } from '../../errors.ts'
import { groupedBody, ungroupedBody, type BodyParts } from '../../usage/meter-usage-body.ts'
import { fileStatement, type UsageGrouping } from '../../usage/query-grouped-usage.ts'
import type { UsageQuery } from '../../usage/query-usage.ts'
import { referencesOfCustomer, requireStored } from '../../usage/require-stored.ts'
import { declaredBy, parseFilter, requireDeclared } from '../../usage/meter-dimensions.ts'
import { UsageExports, type UsageExportLimits } from '../../usage/usage-exports.ts'
import { filterCondition, type Condition } from '../../usage/usage-filter.ts'
import { sendUsageFile } from '../send-usage-file.ts'
import type { ApiServer } from '../../access/api-server.ts'
import { callerOf, type Caller } from '../../access/caller.ts'
import { read, type ReadParts } from '../../access/read.ts'

type Parts = ReadParts &
  BodyParts & {
    readonly partitionCount: (environment: Environment) => number
    readonly eventLog: EventLog
    readonly usageStore: UsageStore
    readonly limits: BodyParts['limits'] & UsageExportLimits & { readonly usageStoreWaitMs: number }
  }

const params = z.object({ meterRef: requiredReference })

/** Existing clients use the short path and may send parameters that it ignores. The long path refuses them. */
const paths = [
  ['/ui/meters/:meterRef/usage', {}],
  ['/v1/ui/meters/:meterRef/usage', { refusesUnknownNames: true }],
] as const

export function registerMeterUsageRoutes(app: ApiServer, parts: Parts): void {
  const exports = new UsageExports(parts.usageStore, parts.limits)
  for (const [path, config] of paths) {
    app.get(
      path,
      {
        config,
        schema: {
          tags: ['Meters'],
          params,
          querystring: meterUsageQuerySchema,
          response: { 200: meterUsageResponseSchema },
        },
      },
      async (request, reply) => {
        const { query } = request
        const format = query.format ?? acceptedFormat(request.headers.accept)
        const asked = await readQuestion(parts, callerOf(request), request.params.meterRef, query)
        if (format === 'json') return answer(parts, asked)
        const { usage, grouping } = asked
        const statement = fileStatement(usage, grouping, { isForSpreadsheets: format === 'csv' })
        return sendUsageFile(reply, exports, { ...usage, statement, format })
      },
    )
  }
}

/** Returns the first type of the header that is known. Clients that take anything get JSON. */
function acceptedFormat(accept = ''): UsageFormat {
  for (const range of accept.split(',')) {
    const [type] = range.split(';')
    if (type?.trim() === 'text/csv') return 'csv'
    if (type?.trim() === 'application/vnd.apache.parquet') return 'parquet'
    if (type?.trim() === 'application/json') return 'json'
  }
  return 'json'
}

type Question = {
  readonly meter: Meter
  readonly customerRef: string | undefined
  readonly usage: UsageQuery
  readonly grouping: UsageGrouping
}

/** Returns what the request asks for, once the store has every record that was accepted before it. */
async function readQuestion(
  parts: Parts,
  caller: Caller,
  meterRef: string,
  query: MeterUsageQuery,
): Promise<Question> {
  const range = rangeOf(query)
  const meter = await read(parts, caller, (sql) => findMeter(sql, caller.providerId, meterRef))
  if (meter === undefined) throw refusals.meterNotFound(meterRef)
  const dimensions = dimensionsOf(query, meter)
  const filter = filterOf(query, meter)
  const { customerRef } = query
  const customerRefs = await referencesOfCustomer(parts, caller, customerRef)
  await requireStored(parts, caller, customerRefs)
  return {
    meter,
    customerRef: customerRef === '' ? undefined : customerRef,
    usage: {
      ...caller,
      meterName: meter.name,
      aggregation: meter.aggregation,
      customerRefs,
      range,
      outcome: query.outcome ?? 'success',
      filter,
    },
    grouping: { dimensions, top: query.top, granularity: query.granularity },
  }
}

async function answer(
  parts: Parts,
  { meter, customerRef, usage, grouping }: Question,
): Promise<MeterUsageResponse> {
  const head = {
    meterRef: meter.reference,
    meterName: meter.name,
    ...(customerRef === undefined ? {} : { customerRef }),
    from: new Date(usage.range.startMs).toISOString(),
    to: new Date(usage.range.endMs).toISOString(),
  }
  const body =
    grouping.dimensions.length === 0
      ? await ungroupedBody(parts, usage, grouping.granularity)
      : await groupedBody(parts, usage, grouping)
  return { ...head, ...body }
}

/** Returns the dimensions by which the usage is grouped. */
function dimensionsOf({ groupBy, top }: MeterUsageQuery, meter: Meter): readonly string[] {
  if (groupBy === undefined) {
    if (top !== undefined) throw invalidField('top', 'Use it with groupBy')
    return []
  }
  const dimensions = typeof groupBy === 'string' ? [groupBy] : groupBy
  requireDeclared(meter, dimensions, 'groupBy')
  return [...new Set(dimensions)]
}

/**
 * A record that counts on several meters has its properties only once, so that meters that read events are filtered by the
 * dimensions that they declare.
 */
function filterOf({ filter: text }: MeterUsageQuery, meter: Meter): Condition | undefined {
  if (text === undefined) return undefined
  const filter = parseFilter(text)
  if (meter.reads !== null) requireDeclared(meter, Object.keys(filter), 'filter')
  return filterCondition(filter, declaredBy(meter))
}

function rangeOf(query: MeterUsageQuery): TimeRange {
  const range = { startMs: Date.parse(query.from), endMs: Date.parse(query.to) }
  if (range.startMs > range.endMs) throw invalidField('to', 'Must not be before `from`')
  return range
}
