import { isAdditive } from '@tollgate/schemas/meter-reading'
import { listReferences } from '@tollgate/domain/customers/repository'
import { purchasePeriodAt } from '@tollgate/domain/entitlements/compile-entitlement'
import { listMeters, type Meter } from '@tollgate/domain/meters/repository'
import type { Purchase } from '@tollgate/domain/purchases/repository'
import { type Granularity } from '@tollgate/schemas/http/meters'
import { requestsMeterName } from '@tollgate/schemas/http/meter-events'
import type { Clock } from '@tollgate/platform/clock/clock'
import type { Logger } from '@tollgate/platform/observability/logger'
import type { UsageStore } from '@tollgate/platform/usage-store/usage-store'
import { bucketsOf, type TimeRange } from '../../domain/usage-buckets.ts'
import { read, type ReadParts } from '../../access/read.ts'
import type { Caller } from '../../access/caller.ts'
import { listUsageGroups, sumRolledUpByBucket } from '../../usage/query-rolled-up-usage.ts'
import { wholeHours } from '../../usage/usage-over-time.ts'
import type { ChartBar } from '../usage-chart.tsx'

export type UsageChartParts = ReadParts & {
  readonly clock: Clock
  readonly logger: Logger
  readonly usageStore: UsageStore
}

const dayMs = 86_400_000

/** Maximum number of bars in one chart. More bars are not readable. */
const barsMax = 62

/** Number of days shown for a purchase whose period is as long as the purchase. */
const recentDays = 30

/** Maximum number of charts. The meters with the most usage are shown. */
const chartsMax = 8

export type MeterChart = {
  readonly meterName: string
  /** Undefined for the meter of requests. */
  readonly title: string | undefined
  readonly bars: readonly ChartBar[]
}

/**
 * Returns a chart of the purchase's usage in its period for each meter, with the meter of requests first. Usage that was recorded a
 * moment ago may be missing, because it is not stored yet. Returns undefined while the store does not respond.
 */
export async function purchaseUsageCharts(
  pages: UsageChartParts,
  caller: Caller,
  purchase: Purchase,
): Promise<readonly MeterChart[] | undefined> {
  const range = chartedRange(purchase, new Date(pages.clock.now()))
  if (range === undefined) return undefined
  const granularity = granularityOf(range)
  const buckets = bucketsOf(range, granularity, barsMax)
  if (buckets === undefined) return undefined
  const { customerRefs, meters } = await read(pages, caller, async (sql) => ({
    customerRefs: await listReferences(sql, caller.providerId, purchase.customerRef),
    meters: await listMeters(sql, caller.providerId),
  }))
  const query = {
    ...caller,
    productRefs: ['', purchase.productRef],
    customerRefs,
    range,
  }
  try {
    const all = { ...query, meterName: undefined }
    const used = await listUsageGroups(pages.usageStore, all, 'meter', chartsMax)
    const shown = used.map(({ key }) => key).filter((name) => isShown(name, meters))
    const names = new Set([requestsMeterName, ...shown])
    return await Promise.all(
      [...names].map(async (meterName): Promise<MeterChart> => {
        const ofMeter = { ...query, meterName }
        const { buckets: sums } = await sumRolledUpByBucket(pages.usageStore, ofMeter, granularity)
        return {
          meterName,
          title: titleOf(meterName, meters),
          bars: buckets.map(({ startMs }) => ({
            start: new Date(startMs),
            value: Number(sums.get(startMs)?.total ?? 0),
          })),
        }
      }),
    )
  } catch (error) {
    pages.logger.warn({ err: error }, 'a purchase is shown without its charts')
    return undefined
  }
}

/** Bars show sums, which other aggregations do not have. What models cost the provider is not for customers. */
function isShown(meterName: string, meters: readonly Meter[]): boolean {
  const meter = meters.find(({ name }) => name === meterName)
  if (meter === undefined) return true
  return isAdditive(meter.aggregation) && meter.reads?.reading.modelCost === undefined
}

function titleOf(meterName: string, meters: readonly Meter[]): string | undefined {
  if (meterName === requestsMeterName) return undefined
  return meters.find(({ name }) => name === meterName)?.displayName ?? meterName
}

function chartedRange(purchase: Purchase, now: Date): TimeRange | undefined {
  const { planSnapshot } = purchase
  if (planSnapshot === null) return undefined
  const endedMs = (purchase.endedAt ?? purchase.endDate)?.getTime() ?? Infinity
  const shownMs = Math.min(now.getTime(), endedMs - 1)
  const { start, end } = purchasePeriodAt(purchase, planSnapshot, new Date(shownMs))
  const lastDayMs = (Math.floor(shownMs / dayMs) + 1) * dayMs
  const isCyclic = planSnapshot.terms.billingCycle !== undefined
  return wholeHours(
    isCyclic
      ? { startMs: start.getTime(), endMs: Math.min(end.getTime(), endedMs) }
      : { startMs: Math.max(start.getTime(), lastDayMs - recentDays * dayMs), endMs: lastDayMs },
  )
}

function granularityOf({ startMs, endMs }: TimeRange): Granularity {
  const days = (endMs - startMs) / dayMs
  if (days <= barsMax - 1) return 'day'
  return days <= (barsMax - 1) * 7 ? 'week' : 'month'
}
