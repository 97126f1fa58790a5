import { countProducts } from '@tollgate/domain/catalog/products-repository'
import { countCustomers, listCustomersByReference } from '@tollgate/domain/customers/list-customers'
import {
  hasLimitAlert,
  listFailingEndpoints,
  listFailingInvoices,
  listNearLimits,
} from '@tollgate/domain/overview/attention'
import { listCreditsSoldByDay, listMoneyByDay } from '@tollgate/domain/overview/money-by-day'
import { listRecurring, monthlyRevenue } from '@tollgate/domain/overview/recurring-revenue'
import { countPurchasesByStatus } from '@tollgate/domain/purchases/repository'
import type { Clock } from '@tollgate/platform/clock/clock'
import type { Queryable } from '@tollgate/platform/database/database'
import type { EventLog } from '@tollgate/platform/event-log/event-log'
import type { Logger } from '@tollgate/platform/observability/logger'
import type { UsageStore } from '@tollgate/platform/usage-store/usage-store'
import type { Environment } from '@tollgate/schemas/environment'
import { requestsMeterName } from '@tollgate/schemas/http/meter-events'
import type { OverviewBody } from '@tollgate/schemas/http/overview'
import { purchaseStatuses } from '@tollgate/schemas/http/purchases'
import type { Caller } from '../access/caller.ts'
import { read, type ReadParts } from '../access/read.ts'
import { dayMs } from '../domain/usage-buckets.ts'
import { daysUntil, TimeZone } from '../domain/zoned-buckets.ts'
import { readActivity } from '../usage/query-activity.ts'
import { storedDelayMs } from '../usage/stored-delay.ts'
import { nextFullHour, usageOverTime } from '../usage/usage-over-time.ts'
import { presentOverview, type OverviewDay } from './present-overview.ts'

export type OverviewParts = ReadParts & {
  readonly clock: Clock
  readonly logger: Logger
  readonly usageStore: UsageStore
  readonly eventLog: EventLog
  readonly partitionCount: (environment: Environment) => number
}

/** Days that the overview shows, with today. */
const shownDays = 30
/** Maximum number of rows of each list of things that need attention. */
const listedMax = 10
/** Maximum number of purchases that one overview prices one by one, because their prices depend on the period. */
const pricedMax = 2_000

/**
 * Returns the numbers of the console's Home. PostgreSQL, ClickHouse and the log are read at the same time, and may differ by records of
 * that moment. Numbers from ClickHouse and the log are left out if they cannot be read.
 */
export async function businessOverview(
  parts: OverviewParts,
  caller: Caller,
  timeZone: string,
): Promise<OverviewBody> {
  const nowMs = parts.clock.now()
  const zone = new TimeZone(timeZone)
  const days = daysUntil(nowMs, shownDays, zone)
  const [stored, activity, usage, delayMs] = await Promise.all([
    read(parts, caller, (sql) => readBusiness(sql, caller.providerId, days, timeZone, nowMs)),
    orUndefined(parts, () => {
      // An hour of UTC belongs to the day in which it begins.
      const [startMs, endMs] = [nextFullHour(days[0]!.startMs), nextFullHour(days.at(-1)!.endMs)]
      return readActivity(parts.usageStore, {
        ...caller,
        ...{ range: { startMs, endMs }, timeZone: zone.name },
      })
    }),
    orUndefined(parts, () => recentUsage(parts.usageStore, caller, nowMs)),
    orUndefined(parts, () => storedDelayMs(parts, caller.environment, nowMs)),
  ])
  return presentOverview({ days, timeZone, ...stored, activity, usage, delayMs })
}

async function orUndefined<Result>(
  { logger }: OverviewParts,
  body: () => Promise<Result>,
): Promise<Result | undefined> {
  try {
    return await body()
  } catch (error) {
    logger.warn({ err: error }, 'the overview is shown without a part')
    return undefined
  }
}

/** Reads the numbers of PostgreSQL. The statements are sent together. */
async function readBusiness(
  sql: Queryable,
  providerId: string,
  days: readonly OverviewDay[],
  timeZone: string,
  nowMs: number,
) {
  const now = new Date(nowMs)
  const range = {
    from: new Date(days[0]!.startMs),
    to: new Date(days.at(-1)!.endMs),
    timeZone,
  }
  const [customers, products, byStatus, money, creditsSold, recurring, limits, ...others] =
    await Promise.all([
      countCustomers(sql, providerId),
      countProducts(sql, providerId),
      countPurchasesByStatus(sql, providerId),
      listMoneyByDay(sql, providerId, range),
      listCreditsSoldByDay(sql, providerId, range),
      listRecurring(sql, providerId, now, pricedMax),
      listNearLimits(sql, providerId, now, listedMax),
      hasLimitAlert(sql, providerId),
      listFailingInvoices(sql, providerId, listedMax),
      listFailingEndpoints(sql, providerId),
    ])
  const [isWatched, failingInvoices, failingEndpoints] = others
  const known = await listCustomersByReference(
    sql,
    providerId,
    limits.map(({ customerRef }) => customerRef),
  )
  return {
    customers,
    products,
    purchases: Object.fromEntries(
      purchaseStatuses.map((status) => [status, byStatus.get(status) ?? 0]),
    ) as OverviewBody['purchases'],
    money,
    creditsSold,
    recurring: monthlyRevenue(recurring.groups),
    isExact: recurring.isComplete,
    limits: limits.map((limit) => ({ ...limit, email: known.get(limit.customerRef)?.email })),
    isWatched,
    failingInvoices,
    failingEndpoints,
  }
}

function recentUsage(store: UsageStore, caller: Caller, nowMs: number) {
  const endMs = (Math.floor(nowMs / dayMs) + 1) * dayMs
  const query = {
    ...caller,
    meterName: requestsMeterName,
    productRefs: undefined,
    customerRefs: undefined,
    range: { startMs: endMs - shownDays * dayMs, endMs },
  }
  return usageOverTime(store, query, 'day', shownDays)
}
