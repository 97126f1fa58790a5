import type { EntryAddress, EntrySeriesView } from '@tollgate/platform/hot-state/hot-state'
import type { Entitlement } from '@tollgate/schemas/hot-state/documents'
import { partitionOf, subjectKey } from '@tollgate/schemas/subject'
import { usageTopic } from '@tollgate/schemas/topics'
import {
  catchUp,
  countersUsage,
  isBehind,
  publishedEntitlementOf,
  type CountedUsage,
} from './counted-usage-reader.ts'
import type { MeterToRead } from './charge-limits.ts'
import type { Reading, UsageParts, UsageQuery } from './usage-query.ts'

export type MetersQuery = Omit<UsageQuery, 'meterName' | 'spans'>

export type CountedMeters = {
  /** The document of the customer's entry to which the usage belongs. */
  readonly document: string | undefined
  /** Whether it changed between the readings, so that the usage belongs to several documents. */
  readonly isMixed: boolean
  readonly entitlement: Entitlement | undefined
  readonly usage: ReadonlyMap<string, CountedUsage>
}

/**
 * Returns a customer's usage of several meters, including everything that was acknowledged before the call. Each reference is read
 * once, with the counters of all meters of the same moment. Only meters whose counters are behind are read again.
 */
export async function readCountedMeters(
  parts: UsageParts,
  query: MetersQuery,
  meters: readonly MeterToRead[],
): Promise<CountedMeters> {
  const series = meters.map(({ meterName }) => meterName)
  const own = await readSeries(parts, query, query.customerRef, series)
  const entitlement = publishedEntitlementOf(parts, own)
  const customerRefs = query.customerRefs ?? entitlement?.customerRefs ?? []
  const others = [...new Set(customerRefs)].filter((ref) => ref !== query.customerRef)
  const rest = await Promise.all(others.map((ref) => readSeries(parts, query, ref, series)))
  const readings = [own, ...rest]
  const isLate = readings.some(isBehind)
  const usage = await Promise.all(
    meters.map(async (meter) => {
      const ofMeter = readings.map((reading) => readingOf(reading, meter))
      if (!isLate) return countersUsage(meter, entitlement, ofMeter)
      return await catchUp(parts, { ...query, ...meter }, ofMeter)
    }),
  )
  const [first] = usage
  return {
    document: first === undefined ? own.view.document : first.document,
    isMixed: usage.some(({ document }) => document !== first?.document),
    entitlement: first === undefined ? entitlement : first.entitlement,
    usage: new Map(series.map((name, index) => [name, usage[index]!])),
  }
}

/** One reference of the customer, with the counters of several series. */
type SeriesReading = Omit<Reading, 'view'> & { readonly view: EntrySeriesView }

async function readSeries(
  { log, hotState }: UsageParts,
  { environment, providerId, productRef }: MetersQuery,
  customerRef: string,
  series: readonly string[],
): Promise<SeriesReading> {
  const topic = usageTopic(environment)
  const subject = subjectKey(providerId, customerRef)
  const partition = partitionOf(subject, log.partitionCount(topic))
  const at: EntryAddress = { space: environment, partition, subject, scope: productRef }
  // The head is read first. Records that are acknowledged after this line need not be included.
  const head = log.head(topic, partition)
  const view = hotState.readEntrySeries(at, series)
  const [headThen, viewThen] = await Promise.all([head, view])
  return { customerRef, at, head: headThen, view: viewThen }
}

function readingOf(
  { view: { document, appliedOffset, series }, ...reading }: SeriesReading,
  { meterName }: MeterToRead,
): Reading {
  const counters = series.get(meterName) ?? { amounts: new Map() }
  return { ...reading, view: { document, appliedOffset, ...counters } }
}
