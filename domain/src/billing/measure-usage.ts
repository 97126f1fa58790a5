import type { EventLog } from '@tollgate/platform/event-log/event-log'
import type { UsageStore } from '@tollgate/platform/usage-store/usage-store'
import type { Environment } from '@tollgate/schemas/environment'
import { requestsMeterName } from '@tollgate/schemas/http/meter-events'
import { partitionOf, subjectKey } from '@tollgate/schemas/subject'
import { usageTopic } from '@tollgate/schemas/topics'
import { sumStoredUsageByWindow } from '../stored-usage/query-stored-usage.ts'
import { requireComparedStore } from '../stored-usage/store-incarnation.ts'
import { waitUntilStored, type StoredUpTo } from '../stored-usage/stored-up-to.ts'
import type { ChargedPeriod } from '../pricing/invoice-line.ts'
import type { UsageReading } from '../pricing/line-inputs.ts'
import type { UsageToBill } from './prepare-usage-bill.ts'
import type { UsageToPrice, UsedPeriod } from './usage-lines.ts'
import { windowBefore, billedWindowOf } from '../purchases/usage-windows.ts'

/** The purchase and the periods whose usage is summed up. */
export type UsageToMeasure = Omit<UsageToBill, 'billingDates'>

export type MeasuringParts = {
  readonly eventLog: Pick<EventLog, 'partitionCount' | 'head' | 'position'>
  readonly usageStore: Pick<UsageStore, 'query'>
  readonly now: () => Date
  /** How long to wait until the usage store contains all acknowledged usage, in milliseconds. */
  readonly storedWaitMs: number
}

/**
 * Sums up the usage to bill from the raw records, once the usage store contains everything that was acknowledged
 * before. Throws UsageBehindError while it does not, so that no bill is made from incomplete usage.
 */
export async function measureUsage(
  { eventLog, usageStore, now, storedWaitMs }: MeasuringParts,
  environment: Environment,
  providerId: string,
  { purchase, period, earlier, endOfPrevious, customerRefs }: UsageToMeasure,
): Promise<UsageToPrice> {
  const topic = usageTopic(environment)
  const partitionCount = eventLog.partitionCount(topic)
  const partitions = new Set(
    customerRefs.map((reference) => partitionOf(subjectKey(providerId, reference), partitionCount)),
  )
  const sides = { eventLog, usageStore }
  const stored = await waitUntilStored(sides, environment, [...partitions], now, storedWaitMs)
  const periods: readonly ChargedPeriod[] = period === undefined ? earlier : [period, ...earlier]
  const { productRef } = purchase
  const own = periods.map((each) => billedWindowOf(purchase, each, endOfPrevious))
  const before = periods.map((each) => windowBefore(purchase, each, endOfPrevious))
  const windows = [...own, ...before.filter((window) => window !== undefined)]
  const sums = await sumStoredUsageByWindow(
    usageStore,
    { environment, providerId, customerRefs, productRef, meterName: requestsMeterName },
    windows,
    stored.parts,
  )
  await requireComparedStore(usageStore, environment, stored.notes)
  const usedIn = (each: ChargedPeriod): Omit<UsedPeriod, 'period'> => {
    const at = periods.indexOf(each)
    const shared = before[at]
    return {
      usedMicros: sums[at]!,
      usedBeforeMicros: shared === undefined ? 0n : sums[windows.indexOf(shared)]!,
    }
  }
  return {
    current: period && { period, ...usedIn(period) },
    earlier: earlier.map((each) => ({
      period: { start: each.start, end: each.end },
      ...usedIn(each),
      billed: each.billed,
    })),
    reading: readingOf(stored),
  }
}

function readingOf({ watermark, parts }: StoredUpTo): UsageReading {
  return {
    meterName: requestsMeterName,
    watermark: watermark.toISOString(),
    nextOffsets: Object.fromEntries(
      parts.map(({ partition, beforeOffset }) => [String(partition), String(beforeOffset)]),
    ),
  }
}
