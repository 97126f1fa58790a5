import type { EventLog } from '@tollgate/platform/event-log/event-log'
import type { UsageStore } from '@tollgate/platform/usage-store/usage-store'
import type { Environment } from '@tollgate/schemas/environment'
import { requestsMeterName } from '@tollgate/schemas/http/meter-events'
import { partitionOf, subjectKey } from '@tollgate/schemas/subject'
import { usageTopic } from '@tollgate/schemas/topics'
import type {
  CustomerRecords,
  StoredPart,
  UsageWindow,
} from '../stored-usage/query-stored-usage.ts'
import { sumStoredUsageByRow } from '../stored-usage/query-charged-usage.ts'
import { requireComparedStore } from '../stored-usage/store-incarnation.ts'
import { waitUntilStored, type StoredUpTo } from '../stored-usage/stored-up-to.ts'
import { billedCharges, type BilledCharge } from '../pricing/billed-charges.ts'
import type { ChargedPeriod } from '../pricing/invoice-line.ts'
import type { UsageReading } from '../pricing/line-inputs.ts'
import type { UsageToBill } from './prepare-usage-bill.ts'
import type { ChargeUsage, UsageToPrice, UsedPeriod } from './usage-lines.ts'
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
  usage: UsageToMeasure,
): Promise<UsageToPrice> {
  const partitionCount = eventLog.partitionCount(usageTopic(environment))
  const partitions = partitionsOf(providerId, usage.customerRefs, partitionCount)
  const sides = { eventLog, usageStore }
  const stored = await waitUntilStored(sides, environment, partitions, now, storedWaitMs)
  return measureStoredUsage(usageStore, environment, providerId, usage, stored)
}

/** Returns the partitions of the log that may have usage of a customer. */
export function partitionsOf(
  providerId: string,
  customerRefs: readonly string[],
  partitionCount: number,
): number[] {
  const partitions = customerRefs.map((reference) =>
    partitionOf(subjectKey(providerId, reference), partitionCount),
  )
  return [...new Set(partitions)]
}

/** Sums up what is stored. It is less than what was acknowledged if `stored` ends before the log does. */
export async function measureStoredUsage(
  usageStore: MeasuringParts['usageStore'],
  environment: Environment,
  providerId: string,
  { purchase, period, earlier, endOfPrevious, customerRefs }: UsageToMeasure,
  stored: StoredUpTo,
): Promise<UsageToPrice> {
  const periods: readonly ChargedPeriod[] = period === undefined ? earlier : [period, ...earlier]
  const windows = windowsOf(purchase, periods, endOfPrevious)
  const { productRef } = purchase
  const records = { environment, providerId, customerRefs, productRef }
  const measured: ChargeUsage[] = []
  for (const charge of chargesOf(purchase)) {
    const sums = await sumOfCharge(usageStore, records, charge, windows, stored.parts)
    const { key } = charge
    measured.push({
      key,
      current: period && { period, ...sums[0]! },
      earlier: earlier.map(({ start, end, billed, isCorrected }, at) => ({
        period: { start, end },
        ...sums[periods.length - earlier.length + at]!,
        billed: billed.get(key) ?? nothingBilled,
        ...(isCorrected === true ? { isCorrected } : {}),
      })),
      reading: readingOf(stored, charge),
    })
  }
  await requireComparedStore(usageStore, environment, stored.notes)
  return measured
}

/** A period that was billed without a line for the charge. */
const nothingBilled = { usedMicros: 0n, usedBeforeMicros: 0n, carriedOverMicros: 0n }

function chargesOf({ planSnapshot }: UsageToMeasure['purchase']): MeasuredCharge[] {
  // A purchase without a snapshot cannot be billed, but its usage of `requests` can be summed up.
  return planSnapshot === null
    ? [{ key: null, meterName: requestsMeterName }]
    : billedCharges(planSnapshot)
}

type MeasuredCharge = Pick<BilledCharge, 'key' | 'meterName' | 'where'> &
  Partial<Pick<BilledCharge, 'terms'>>

/** The window whose usage is billed with a period, and the time before in which the shared allowance was used. */
type PeriodWindows = { readonly own: UsageWindow; readonly before: UsageWindow | undefined }

function windowsOf(
  purchase: UsageToMeasure['purchase'],
  periods: readonly ChargedPeriod[],
  endOfPrevious: Date | undefined,
): PeriodWindows[] {
  return periods.map((each) => ({
    own: billedWindowOf(purchase, each, endOfPrevious),
    before: windowBefore(purchase, each, endOfPrevious),
  }))
}

/** Returns the usage of the charge in each period. */
async function sumOfCharge(
  usageStore: MeasuringParts['usageStore'],
  records: CustomerRecords & { readonly productRef: string },
  { meterName, where, terms }: MeasuredCharge,
  periods: readonly PeriodWindows[],
  parts: readonly StoredPart[],
): Promise<Omit<UsedPeriod, 'period'>[]> {
  const matrix = terms?.rate.kind === 'matrix' ? terms.rate : undefined
  const before = periods.map((each) => each.before)
  const windows = [...periods.map(({ own }) => own), ...before.filter((each) => each !== undefined)]
  const query = { ...records, meterName, where, rows: matrix?.rows.map(({ when }) => when) }
  const sums = await sumStoredUsageByRow(usageStore, query, windows, parts)
  const total = (at: number): bigint => sums[at]!.reduce((sum, micros) => sum + micros, 0n)
  return before.map((shared, at) => ({
    usedMicros: total(at),
    // A matrix has neither tiers nor included units, so usage before does not change its prices.
    usedBeforeMicros:
      shared === undefined || matrix !== undefined ? 0n : total(windows.lastIndexOf(shared)),
    ...(matrix === undefined ? {} : { rowMicros: sums[at]! }),
  }))
}

function readingOf(
  { watermark, parts }: StoredUpTo,
  { meterName, where }: MeasuredCharge,
): UsageReading {
  return {
    meterName,
    ...(where === undefined ? {} : { where }),
    watermark: watermark.toISOString(),
    nextOffsets: Object.fromEntries(
      parts.map(({ partition, beforeOffset }) => [String(partition), String(beforeOffset)]),
    ),
  }
}
