import type { FastifyReply } from 'fastify'
import { z } from 'zod'
import { findMeter, type Meter } from '@tollgate/domain/meters/repository'
import { requiredReference } from '@tollgate/schemas/http/fields'
import {
  meterUsageQuerySchema,
  meterUsageResponseSchema,
  type MeterUsageQuery,
  type MeterUsageResponse,
} from '@tollgate/schemas/http/meters'
import { isFilterFault, usageFilterOf, type UsageFormat } from '@tollgate/schemas/http/usage-query'
import type { UsageStore } from '@tollgate/platform/usage-store/usage-store'
import type { Environment } from '@tollgate/schemas/environment'
import type { EventLog } from '@tollgate/platform/event-log/event-log'
import type { TimeRange } from '../../domain/usage-buckets.ts'
import { invalidField, refusals } from '../../errors.ts'
import { groupedBody, ungroupedBody, type BodyParts } from '../../usage/meter-usage-body.ts'
import { fileStatement, type UsageGrouping } from '../../usage/query-grouped-usage.ts'
import type { UsageQuery } from '../../usage/query-usage.ts'
import { referencesOfCustomer, requireStored } from '../../usage/require-stored.ts'
import { UsageExports, type UsageExportLimits } from '../../usage/usage-exports.ts'
import { filterCondition, type Condition } from '../../usage/usage-filter.ts'
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
        return sendFile(reply, exports, asked, format)
      },
    )
  }
}

const fileTypes = { csv: 'text/csv; charset=utf-8', parquet: 'application/vnd.apache.parquet' }

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

/** The reply is not of the type of the JSON response, so the schema of the route does not apply to it. */
async function sendFile(
  reply: FastifyReply,
  exports: UsageExports,
  { usage, grouping }: Question,
  format: keyof typeof fileTypes,
): Promise<never> {
  const engineFormat = format === 'csv' ? 'CSVWithNames' : 'Parquet'
  const statement = fileStatement(usage, grouping, { isForSpreadsheets: format === 'csv' })
  const stream = await exports.open(usage.providerId, statement, engineFormat)
  const days = [usage.range.startMs, usage.range.endMs].map((ms) =>
    new Date(ms).toISOString().slice(0, 10),
  )
  return reply
    .type(fileTypes[format])
    .header('content-disposition', `attachment; filename="usage-${days.join('-')}.${format}"`)
    .header('cache-control', 'private, no-store')
    .send(stream) as never
}

/** Returns the dimensions by which the usage is grouped. */
function dimensionsOf({ groupBy, top }: MeterUsageQuery, meter: Meter): readonly string[] {
  if (groupBy === undefined) {
    if (top !== undefined) throw invalidField('top', 'Use it with groupBy')
    return []
  }
  const dimensions = typeof groupBy === 'string' ? [groupBy] : groupBy
  const declared = declaredBy(meter)
  for (const dimension of dimensions) {
    if (declared.includes(dimension)) continue
    throw invalidField('groupBy', `Meter ${meter.name} has no dimension ${dimension}`)
  }
  return [...new Set(dimensions)]
}

/**
 * A record that counts on several meters has its properties only once, so that meters that read events are filtered by the
 * dimensions that they declare.
 */
function filterOf({ filter: text }: MeterUsageQuery, meter: Meter): Condition | undefined {
  if (text === undefined) return undefined
  const filter = usageFilterOf(text)
  if (isFilterFault(filter)) throw invalidField('filter', filter.fault)
  const declared = declaredBy(meter)
  if (meter.reads !== null) {
    const unknown = Object.keys(filter).find((property) => !declared.includes(property))
    if (unknown !== undefined) {
      throw invalidField('filter', `Meter ${meter.name} has no dimension ${unknown}`)
    }
  }
  return filterCondition(filter, declared)
}

function declaredBy({ reads }: Meter): readonly string[] {
  return reads?.reading.dimensions ?? []
}

function rangeOf(query: MeterUsageQuery): TimeRange {
  const range = { startMs: Date.parse(query.from), endMs: Date.parse(query.to) }
  if (range.startMs > range.endMs) throw invalidField('to', 'Must not be before `from`')
  return range
}
