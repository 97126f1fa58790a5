import { z } from 'zod'
import { findCustomer, listReferences } from '@tollgate/domain/customers/repository'
import { findMeter, type Meter } from '@tollgate/domain/meters/repository'
import { requiredReference } from '@tollgate/schemas/http/fields'
import {
  meterUsageQuerySchema,
  meterUsageResponseSchema,
  type Granularity,
  type MeterUsageQuery,
  type MeterUsageResponse,
} from '@tollgate/schemas/http/meters'
import { usageGroupsMax } from '@tollgate/schemas/limits'
import { partitionOf, subjectKey } from '@tollgate/schemas/subject'
import type { UsageStore } from '@tollgate/platform/usage-store/usage-store'
import type { Environment } from '@tollgate/schemas/environment'
import type { EventLog } from '@tollgate/platform/event-log/event-log'
import { bucketsOf, type TimeRange } from '../../domain/usage-buckets.ts'
import { invalidField, refusals } from '../../errors.ts'
import {
  sumUsage,
  sumUsageByBucket,
  sumUsageByDimensions,
  type UsageQuery,
} from '../../usage/query-usage.ts'
import { waitForSink } from '../../usage/wait-for-sink.ts'
import type { ApiServer } from '../../access/api-server.ts'
import { callerOf, type Caller } from '../../access/caller.ts'
import { read, type ReadParts } from '../../access/read.ts'

type Parts = ReadParts & {
  readonly partitionCount: (environment: Environment) => number
  readonly eventLog: EventLog
  readonly usageStore: UsageStore
  readonly limits: { readonly bucketsMax: number; readonly usageStoreWaitMs: number }
}

const params = z.object({ meterRef: requiredReference })

export function registerMeterUsageRoutes(app: ApiServer, parts: Parts): void {
  for (const path of ['/ui/meters/:meterRef/usage', '/v1/ui/meters/:meterRef/usage'] as const) {
    app.get(
      path,
      {
        schema: {
          tags: ['Meters'],
          params,
          querystring: meterUsageQuerySchema,
          response: { 200: meterUsageResponseSchema },
        },
      },
      (request) => meterUsage(parts, callerOf(request), request.params.meterRef, request.query),
    )
  }
}

async function meterUsage(
  parts: Parts,
  caller: Caller,
  meterRef: string,
  query: MeterUsageQuery,
): Promise<MeterUsageResponse> {
  const range = rangeOf(query)
  const meter = await read(parts, caller, (sql) => findMeter(sql, caller.providerId, meterRef))
  if (meter === undefined) throw refusals.meterNotFound(meterRef)
  const dimensions = dimensionsOf(query, meter)
  const customerRefs = await referencesOfCustomer(parts, caller, query.customerRef)
  await requireStored(parts, caller, customerRefs)
  const usage: UsageQuery = {
    ...caller,
    meterName: meter.name,
    aggregation: meter.aggregation,
    customerRefs,
    range,
    outcome: query.outcome ?? 'success',
  }
  const head = {
    meterRef: meter.reference,
    meterName: meter.name,
    ...(query.customerRef ? { customerRef: query.customerRef } : {}),
    from: new Date(range.startMs).toISOString(),
    to: new Date(range.endMs).toISOString(),
  }
  if (dimensions.length > 0) {
    const groups = await readGroups(parts, usage, dimensions)
    return { ...head, ...(await readTotal(parts, usage)), groups }
  }
  return query.granularity === undefined
    ? { ...head, ...(await readTotal(parts, usage)) }
    : { ...head, ...(await readBuckets(parts, usage, query.granularity)) }
}

/** Returns the dimensions by which the usage is grouped. */
function dimensionsOf(
  { groupBy, granularity }: MeterUsageQuery,
  { name, reads }: Meter,
): readonly string[] {
  if (groupBy === undefined) return []
  if (granularity !== undefined) {
    throw invalidField('groupBy', 'Use either groupBy or granularity')
  }
  const dimensions = typeof groupBy === 'string' ? [groupBy] : groupBy
  const declared = reads?.reading.dimensions ?? []
  for (const dimension of dimensions) {
    if (declared.includes(dimension)) continue
    throw invalidField('groupBy', `Meter ${name} has no dimension ${dimension}`)
  }
  return [...new Set(dimensions)]
}

async function readGroups(
  { usageStore }: { readonly usageStore: UsageStore },
  usage: UsageQuery,
  dimensions: readonly string[],
): Promise<NonNullable<MeterUsageResponse['groups']>> {
  const groups = await sumUsageByDimensions(usageStore, usage, dimensions, usageGroupsMax)
  if (groups.length > usageGroupsMax) {
    throw invalidField(
      'groupBy',
      `The usage has more than ${usageGroupsMax} groups. Use a shorter range or fewer dimensions`,
    )
  }
  return groups.map(({ values, total, count }) => ({
    dimensions: Object.fromEntries(dimensions.map((name, index) => [name, values[index]!])),
    value: Number(total),
    count,
  }))
}

async function readTotal(
  parts: { readonly usageStore: UsageStore },
  usage: UsageQuery,
): Promise<Pick<MeterUsageResponse, 'total' | 'count'>> {
  const { total, count } = await sumUsage(parts.usageStore, usage)
  return { total: Number(total), count }
}

async function readBuckets(
  parts: { readonly usageStore: UsageStore; readonly limits: { readonly bucketsMax: number } },
  usage: UsageQuery,
  granularity: Granularity,
): Promise<Pick<MeterUsageResponse, 'total' | 'count' | 'granularity' | 'buckets'>> {
  const ranges = bucketsOf(usage.range, granularity, parts.limits.bucketsMax)
  if (ranges === undefined) {
    throw invalidField('to', `At most ${parts.limits.bucketsMax} buckets are allowed`)
  }
  const sums = await sumUsageByBucket(parts.usageStore, usage, granularity)
  const { total, count } = sums.whole
  const buckets = ranges.map(({ startMs, endMs }) => {
    const sum = sums.buckets.get(startMs)
    return {
      start: new Date(startMs).toISOString(),
      end: new Date(endMs).toISOString(),
      value: Number(sum?.total ?? 0),
      count: sum?.count ?? 0,
    }
  })
  return { granularity, buckets, total: Number(total), count }
}

/** Returns every reference of the customer. A reference that no customer has is returned as it is. */
async function referencesOfCustomer(
  parts: ReadParts,
  caller: Caller,
  customerRef: string | undefined,
): Promise<string[] | undefined> {
  if (!customerRef) return undefined
  const { providerId } = caller
  return read(parts, caller, async (sql) => {
    const customer = await findCustomer(sql, providerId, customerRef)
    return customer === undefined
      ? [customerRef]
      : listReferences(sql, providerId, customer.reference)
  })
}

async function requireStored(
  parts: Parts,
  { environment, providerId }: Caller,
  customerRefs: readonly string[] | undefined,
): Promise<void> {
  const count = parts.partitionCount(environment)
  const partitions =
    customerRefs === undefined
      ? Array.from({ length: count }, (_, partition) => partition)
      : [...new Set(customerRefs.map((ref) => partitionOf(subjectKey(providerId, ref), count)))]
  const waitMs = parts.limits.usageStoreWaitMs
  if (!(await waitForSink(parts, environment, partitions, waitMs))) throw refusals.usageBehind()
}

function rangeOf(query: MeterUsageQuery): TimeRange {
  const range = { startMs: Date.parse(query.from), endMs: Date.parse(query.to) }
  if (range.startMs > range.endMs) throw invalidField('to', 'Must not be before `from`')
  return range
}
