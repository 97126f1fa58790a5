import type { FastifyReply } from 'fastify'
import { listCustomersByReference } from '@tollgate/domain/customers/list-customers'
import { listProductNames } from '@tollgate/domain/catalog/products-repository'
import { findMeter, type Meter } from '@tollgate/domain/meters/repository'
import type { UsageStore } from '@tollgate/platform/usage-store/usage-store'
import { requestsMeterName } from '@tollgate/schemas/http/meter-events'
import {
  usageExplorerQuerySchema,
  usageExplorerSchema,
  type UsageExplorerBody,
  type UsageExplorerQuery,
} from '@tollgate/schemas/http/usage-explorer'
import { isFilterFault, usageFilterOf } from '@tollgate/schemas/http/usage-query'
import { isAdditive } from '@tollgate/schemas/meter-reading'
import type { ApiServer } from '../../access/api-server.ts'
import { callerOf, type Caller } from '../../access/caller.ts'
import { read, type ReadParts } from '../../access/read.ts'
import { requireProduct } from '../../access/require.ts'
import { definedFields } from '../../domain/defined-fields.ts'
import type { TimeRange } from '../../domain/usage-buckets.ts'
import { TimeZone } from '../../domain/zoned-buckets.ts'
import { invalidField, refusals } from '../../errors.ts'
import { exploreUsage } from '../../usage/explore-usage.ts'
import {
  explorerStatement,
  statementAsText,
  type ExplorerQuery,
} from '../../usage/explorer-statement.ts'
import { referencesOfCustomer } from '../../usage/require-stored.ts'
import { UsageExports, type UsageExportLimits } from '../../usage/usage-exports.ts'
import { filterCondition, type Condition } from '../../usage/usage-filter.ts'
import { rangeToHttp, wholeHours } from '../../usage/usage-over-time.ts'

type Parts = ReadParts & {
  readonly usageStore: UsageStore
  readonly limits: UsageExportLimits & { readonly bucketsMax: number }
}

const topDefault = 10

/** Misspelled filters would return too much, so unknown parameters are refused. */
export function registerUsageExplorerRoute(app: ApiServer, parts: Parts): void {
  const exports = new UsageExports(parts.usageStore, parts.limits)
  app.get(
    '/v1/ui/usage/explore',
    {
      config: { refusesUnknownNames: true },
      schema: {
        tags: ['Usage'],
        querystring: usageExplorerQuerySchema,
        response: { 200: usageExplorerSchema },
      },
    },
    async (request, reply) => {
      const caller = callerOf(request)
      const query = await toExplorerQuery(parts, caller, request.query)
      if (request.query.format === 'csv') return sendCsv(reply, exports, query)
      return answer(parts, caller, query)
    },
  )
}

async function answer(
  parts: Parts,
  caller: Caller,
  query: ExplorerQuery,
): Promise<UsageExplorerBody> {
  const { granularity, groupBy, previous, timeZone } = query
  const { bucketsMax } = parts.limits
  const found = await exploreUsage(parts.usageStore, query, bucketsMax)
  if (found === undefined) throw invalidField('to', `At most ${bucketsMax} buckets are allowed`)
  const keys = [...found.values()].flatMap(({ groups = [] }) => groups.map(({ key }) => key))
  const names = await namesOf(parts, caller, groupBy, keys)
  return {
    ...rangeToHttp(query.range),
    timeZone,
    ...definedFields({ granularity, groupBy, previous: previous && rangeToHttp(previous) }),
    meters: [...found].map(([meterName, { groups, ...meter }]) => ({
      meterName,
      ...meter,
      ...definedFields({
        groups: groups?.map((group) => ({
          ...group,
          ...definedFields({ name: names.get(group.key) }),
        })),
      }),
    })),
    sql: statementAsText(explorerStatement(query)),
  }
}

async function sendCsv(
  reply: FastifyReply,
  exports: UsageExports,
  query: ExplorerQuery,
): Promise<never> {
  const statement = explorerStatement(query, { isForSpreadsheets: true })
  const stream = await exports.open(query.providerId, statement, 'CSVWithNames')
  const days = [query.range.startMs, query.range.endMs].map((ms) =>
    new Date(ms).toISOString().slice(0, 10),
  )
  // The reply is not of the type of the JSON response, so the schema of the route does not apply to it.
  return reply
    .type('text/csv; charset=utf-8')
    .header('content-disposition', `attachment; filename="usage-${days.join('-')}.csv"`)
    .header('cache-control', 'private, no-store')
    .send(stream) as never
}

async function toExplorerQuery(
  parts: Parts,
  caller: Caller,
  query: UsageExplorerQuery,
): Promise<ExplorerQuery> {
  const { timeZone = 'UTC', productRef, purchaseRef, granularity, groupBy, dimension } = query
  const range = rangeOf(query, new TimeZone(timeZone))
  const meters = await requireMeters(parts, caller, query.meterRef)
  if (groupBy !== 'dimension' && dimension !== undefined) {
    throw invalidField('dimension', 'Use it with groupBy=dimension')
  }
  if (groupBy === 'dimension') requireDimension(meters, dimension)
  if (productRef) await requireProduct(parts, caller, productRef)
  return {
    ...caller,
    meterNames: meters.map(({ name }) => name),
    range,
    previous:
      query.compare === undefined
        ? undefined
        : { startMs: range.startMs - (range.endMs - range.startMs), endMs: range.startMs },
    timeZone,
    granularity,
    groupBy,
    dimension,
    top: query.top ?? topDefault,
    customerRefs: await referencesOfCustomer(parts, caller, query.customerRef),
    productRef: productRef || undefined,
    purchaseRef: purchaseRef || undefined,
    outcome: query.outcome ?? 'success',
    filter: filterOf(query, meters),
  }
}

function rangeOf({ from, to }: UsageExplorerQuery, zone: TimeZone): TimeRange {
  const startMs = instantOf(from, zone)
  const endMs = instantOf(to, zone)
  if (startMs > endMs) throw invalidField('to', 'Must not be before `from`')
  return wholeHours({ startMs, endMs })
}

/** A date is the first instant of that day in the time zone. */
function instantOf(text: string, zone: TimeZone): number {
  const [year, month, day] = text.split('-').map(Number)
  return /^\d+-\d+-\d+$/.test(text)
    ? zone.startOf({ year: year!, month: month!, day: day! })
    : Date.parse(text)
}

type KnownMeter = Pick<Meter, 'name' | 'aggregation' | 'reads'>

async function requireMeters(
  parts: Parts,
  caller: Caller,
  meterRef: UsageExplorerQuery['meterRef'],
): Promise<readonly KnownMeter[]> {
  if (meterRef === undefined) {
    return [{ name: requestsMeterName, aggregation: 'sum', reads: null }]
  }
  const references = [...new Set(typeof meterRef === 'string' ? [meterRef] : meterRef)]
  const meters = await read(parts, caller, (sql) =>
    Promise.all(references.map((reference) => findMeter(sql, caller.providerId, reference))),
  )
  return meters.map((meter, index) => {
    if (meter === undefined) throw refusals.meterNotFound(references[index]!)
    if (isAdditive(meter.aggregation)) return meter
    throw invalidField(
      'meterRef',
      `Usage of the aggregation ${meter.aggregation} cannot be added up. Use /v1/ui/meters/${references[index]}/usage`,
    )
  })
}

function requireDimension(meters: readonly KnownMeter[], dimension: string | undefined): void {
  if (dimension === undefined) throw invalidField('dimension', 'groupBy=dimension needs its name')
  const without = meters.find((meter) => !declaredBy(meter).includes(dimension))
  if (without === undefined) return
  throw invalidField('dimension', `Meter ${without.name} has no dimension ${dimension}`)
}

/** Filters are by dimensions that all meters declare. */
function filterOf(
  { filter: text }: UsageExplorerQuery,
  meters: readonly KnownMeter[],
): Condition | undefined {
  if (text === undefined) return undefined
  const filter = usageFilterOf(text)
  if (isFilterFault(filter)) throw invalidField('filter', filter.fault)
  const names = Object.keys(filter)
  for (const meter of meters) {
    const unknown = names.find((name) => !declaredBy(meter).includes(name))
    if (unknown === undefined) continue
    throw invalidField('filter', `Meter ${meter.name} has no dimension ${unknown}`)
  }
  return names.length === 0 ? undefined : filterCondition(filter, names)
}

function declaredBy({ reads }: KnownMeter): readonly string[] {
  return reads?.reading.dimensions ?? []
}

/** Returns the display names of customers and products by key. */
async function namesOf(
  parts: Parts,
  caller: Caller,
  groupBy: ExplorerQuery['groupBy'],
  keys: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const { providerId } = caller
  if (groupBy === 'product') {
    return read(parts, caller, (sql) => listProductNames(sql, providerId, keys))
  }
  if (groupBy !== 'customer') return new Map()
  const customers = await read(parts, caller, (sql) =>
    listCustomersByReference(sql, providerId, keys),
  )
  return new Map([...customers].map(([key, { email }]) => [key, email]))
}
