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
import { parseFilter, requireDeclared } from '../../usage/meter-dimensions.ts'
import { referencesOfCustomer } from '../../usage/require-stored.ts'
import { UsageExports, type UsageExportLimits } from '../../usage/usage-exports.ts'
import { filterCondition, type Condition } from '../../usage/usage-filter.ts'
import { nextFullHour, rangeToHttp } from '../../usage/usage-over-time.ts'
import { sendUsageFile } from '../send-usage-file.ts'

type Parts = ReadParts & {
  readonly usageStore: UsageStore
  readonly limits: UsageExportLimits & { readonly bucketsMax: number }
}

const topDefault = 10

/** Registers the usage explorer. It refuses unknown parameters, because a misspelled filter would return too much. */
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
      const { format = 'json' } = request.query
      if (format === 'json') return answer(parts, caller, query, request.query.timeZone ?? 'UTC')
      const statement = explorerStatement(query, { isForSpreadsheets: true })
      return sendUsageFile(reply, exports, { ...query, statement, format })
    },
  )
}

async function answer(
  parts: Parts,
  caller: Caller,
  query: ExplorerQuery,
  timeZone: string,
): Promise<UsageExplorerBody> {
  const { granularity, groupBy, previous } = query
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

async function toExplorerQuery(
  parts: Parts,
  caller: Caller,
  query: UsageExplorerQuery,
): Promise<ExplorerQuery> {
  const { productRef, purchaseRef, granularity, groupBy, dimension } = query
  const zone = new TimeZone(query.timeZone ?? 'UTC')
  const range = rangeOf(query, zone)
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
    timeZone: zone.name,
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
  // An hour belongs to the range in which it begins, so that no hour is in two days of a zone with half hours.
  return { startMs: nextFullHour(startMs), endMs: nextFullHour(endMs) }
}

/** Returns the instant of the text. A date means the first instant of that day in the time zone. */
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
  for (const meter of meters) requireDeclared(meter, [dimension], 'dimension')
}

/** Returns the condition of the filter. All meters must declare its dimensions. */
function filterOf(
  { filter: text }: UsageExplorerQuery,
  meters: readonly KnownMeter[],
): Condition | undefined {
  if (text === undefined) return undefined
  const filter = parseFilter(text)
  const names = Object.keys(filter)
  for (const meter of meters) requireDeclared(meter, names, 'filter')
  return names.length === 0 ? undefined : filterCondition(filter, names)
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
