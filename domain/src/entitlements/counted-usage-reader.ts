import { sumSince } from '@tollgate/platform/hot-state/buckets'
import type { SeriesView } from '@tollgate/platform/hot-state/hot-state'
import type { Entitlement } from '@tollgate/schemas/hot-state/documents'
import { partitionOf, subjectKey } from '@tollgate/schemas/subject'
import { usageTopic } from '@tollgate/schemas/topics'
import { countingWindows, type CountingWindow } from './counting-windows.ts'
import type { Lag } from './counter-progress.ts'
import type { PassedTail, TailAnswer } from './shared-tail.ts'
import { addByKey, sumByKey } from './sum-by-key.ts'
import { UsageBehindError } from './usage-behind-error.ts'
import {
  endOfSpansSecond,
  type Reading,
  type ReferenceQuery,
  type SpanUsage,
  type UsageParts,
  type UsageQuery,
} from './usage-query.ts'

export type CountedUsage = {
  /** Undefined if no entitlement is published for this reference and product. The control plane must then answer. */
  readonly entitlement: Entitlement | undefined
  /** Usage of all references of the customer in 10^-6 units, keyed by window id. A window without usage is absent. */
  readonly amounts: ReadonlyMap<string, bigint>
  /** Usage of the spans of the query, by their ids. */
  readonly spans: ReadonlyMap<string, SpanUsage>
  /** The document of the customer's entry that the usage belongs to. */
  readonly document: string | undefined
  /** How the usage was read: the counters were up to date, the counters were awaited, or the log's tail was added. */
  readonly source: 'counters' | 'awaited' | 'tail'
}

/**
 * Returns a customer's usage of a product, including everything that was acknowledged before the call. Reads the hot
 * state once if the counters are up to date and the customer has one reference. Returns synchronously if that read
 * does.
 */
export function readCountedUsage(
  parts: UsageParts,
  query: UsageQuery,
): CountedUsage | Promise<CountedUsage> {
  const own = readReference(parts, query, query.customerRef)
  if (own instanceof Promise)
    return own.then((reading) => readOtherReferences(parts, query, reading))
  return readOtherReferences(parts, query, own)
}

function readOtherReferences(
  parts: UsageParts,
  query: UsageQuery,
  own: Reading,
): CountedUsage | Promise<CountedUsage> {
  const entitlement = publishedEntitlementOf(parts, own)
  const customerRefs = query.customerRefs ?? entitlement?.customerRefs
  if (customerRefs === undefined) {
    const { document } = own.view
    return { entitlement, amounts: new Map(), spans: noSpans, document, source: 'counters' }
  }
  const others = [...new Set(customerRefs)].filter((ref) => ref !== query.customerRef)
  const rest = others.map((ref) => readReference(parts, query, ref))
  if (rest.every((reading): reading is Reading => !(reading instanceof Promise))) {
    return sumReadings(parts, query, entitlement, [own, ...rest])
  }
  // Some readings are not promises and need no waiting.
  return Promise.all(rest.map(async (reading) => reading)).then((readings) =>
    sumReadings(parts, query, entitlement, [own, ...readings]),
  )
}

function sumReadings(
  parts: UsageParts,
  query: UsageQuery,
  entitlement: Entitlement | undefined,
  readings: readonly Reading[],
): CountedUsage | Promise<CountedUsage> {
  if (readings.some(isBehind)) return catchUp(parts, query, readings)
  return countersUsage(query, entitlement, readings)
}

/** Returns the usage of readings of which none is behind. */
export function countersUsage(
  query: Pick<UsageQuery, 'spans'>,
  entitlement: Entitlement | undefined,
  readings: readonly Reading[],
): CountedUsage {
  const { document } = readings[0]!.view
  const spans = sumSpans(query, readings)
  return { entitlement, amounts: sumAmounts(readings), spans, document, source: 'counters' }
}

const noSpans: ReadonlyMap<string, SpanUsage> = new Map()

/** Returns what the counters have of each span, over all readings. */
function sumSpans({ spans = [] }: Pick<UsageQuery, 'spans'>, readings: readonly Reading[]) {
  if (spans.length === 0) return noSpans
  return new Map(
    spans.map(({ id, specId, fromBucket }) => {
      const buckets = sumBuckets(
        readings.map(({ view }) => view),
        specId,
      )
      return [id, { usedMicros: sumSince(buckets, fromBucket), buckets }]
    }),
  )
}

/** Returns the usage by bucket of one spec, over all counters. */
export function sumBuckets(
  counters: readonly (SeriesView | undefined)[],
  specId: string,
): Map<number, bigint> {
  return sumByKey(counters.map((each) => each?.buckets?.get(specId) ?? noBuckets))
}

const noBuckets: ReadonlyMap<number, bigint> = new Map()

export function readReference(
  { log, hotState }: UsageParts,
  query: ReferenceQuery,
  customerRef: string,
): Reading | Promise<Reading> {
  const topic = usageTopic(query.environment)
  const subject = subjectKey(query.providerId, customerRef)
  const partition = partitionOf(subject, log.partitionCount(topic))
  const at = { space: query.environment, partition, subject, scope: query.productRef }
  // The head is read first. Records that are acknowledged after this line need not be included.
  const head = log.head(topic, partition)
  const view = hotState.readEntry(at, query.meterName)
  if (head instanceof Promise || view instanceof Promise) {
    return Promise.all([head, view]).then(([headThen, viewThen]) => {
      return { customerRef, at, head: headThen, view: viewThen }
    })
  }
  return { customerRef, at, head, view }
}

export function publishedEntitlementOf(
  { documents }: UsageParts,
  reading: { readonly view: Pick<Reading['view'], 'document'> },
): Entitlement | undefined {
  const { document } = reading.view
  if (document === undefined) return undefined
  return documents?.parse(document) ?? (JSON.parse(document) as Entitlement)
}

/** How far the counters at a place are, and how far they must be. */
type Progress = Pick<Reading, 'at' | 'head'> & {
  readonly view: Pick<Reading['view'], 'appliedOffset'>
}

export function isBehind({ view, head }: Progress): boolean {
  return view.appliedOffset < head
}

/** Returns the usage of readings of which some are behind: waits for the counters, or adds the tail of the log. */
export async function catchUp(
  parts: UsageParts,
  query: UsageQuery,
  behind: readonly Reading[],
): Promise<CountedUsage> {
  // Uses real time, not the business clock, so that a test that stops the business clock does not stop this loop from
  // ending.
  const deadline = performance.now() + query.waitMs
  let readings = behind
  await refuseIfTooFarBehind(parts, query, readings)
  while (readings.some(isBehind)) {
    const patienceMs = parts.progress.patienceMs(readings.map(lagOf))
    const waitMs = Math.min(patienceMs, deadline - performance.now())
    if (waitMs <= 0) return addTails(parts, query, readings)
    await parts.hotState.waitForApply(waitMs)
    readings = await rereadEntries(parts, query, readings)
  }
  return awaitedUsage(parts, query, readings)
}

function awaitedUsage(
  parts: UsageParts,
  query: UsageQuery,
  readings: readonly Reading[],
): CountedUsage {
  const entitlement = publishedEntitlementOf(parts, readings[0]!)
  return { ...countersUsage(query, entitlement, readings), source: 'awaited' }
}

/** Returns how far the counters of a reading are, and how far they must be. */
export function lagOf({ at, head, view: { appliedOffset } }: Progress): Lag {
  return { at, head, appliedOffset }
}

function rereadEntries(
  parts: UsageParts,
  query: ReferenceQuery,
  readings: readonly Reading[],
): Promise<Reading[]> {
  return Promise.all(readings.map((reading) => rereadEntry(parts, query, reading)))
}

export async function rereadEntry(
  { hotState }: UsageParts,
  query: ReferenceQuery,
  reading: Reading,
): Promise<Reading> {
  // Readings that have caught up are read again as well, so that all amounts fit the newest entitlement.
  return { ...reading, view: await hotState.readEntry(reading.at, query.meterName) }
}

/**
 * Adds the records that the log has beyond the counters. Each view and its tail meet at one offset, so their sum is
 * exact.
 */
async function addTails(
  parts: UsageParts,
  query: UsageQuery,
  behind: readonly Reading[],
): Promise<CountedUsage> {
  let readings = behind
  const passed = new Map<number, PassedTail>()
  while (readings.some(isBehind)) {
    await refuseIfTooFarBehind(parts, query, readings)
    const entitlement = publishedEntitlementOf(parts, readings[0]!)
    const amounts = sumAmounts(readings)
    const spans = sumSpans(query, readings)
    // Records outside all windows are not counted yet. Without an entitlement there are no windows, so there is nothing
    // to add.
    const { document } = readings[0]!.view
    if (entitlement === undefined) return { entitlement, amounts, spans, document, source: 'tail' }
    const windows = countingWindows(entitlement)
    const tails = await Promise.all(
      readings
        .filter(isBehind)
        .map((reading) =>
          readTail(parts, query, reading, windows, passed.get(reading.at.partition)),
        ),
    )
    for (const { answer } of tails) if (answer.kind === 'summed') addByKey(amounts, answer.amounts)
    if (tails.every(({ answer }) => answer.kind === 'summed')) {
      const late = await readSpanTails(parts, query, readings.filter(isBehind), passed)
      if (late !== 'passed')
        return { entitlement, amounts, spans: addSpans(spans, late), document, source: 'tail' }
    }
    for (const { partition, answer } of tails) {
      if (answer.kind === 'passed') passed.set(partition, answer)
    }
    readings = await rereadEntries(parts, query, readings)
  }
  return awaitedUsage(parts, query, readings)
}

/**
 * Returns the usage of each span that the log has beyond the counters. Spans overlap, and one reading of the tail needs windows that
 * do not, so each span is read by itself; the records are folded once for all. Returns 'passed' if the counters must be read again.
 */
async function readSpanTails(
  parts: UsageParts,
  query: UsageQuery,
  behind: readonly Reading[],
  passed: Map<number, PassedTail>,
): Promise<ReadonlyMap<string, bigint> | 'passed'> {
  const sums = new Map<string, bigint>()
  const reads = (query.spans ?? []).flatMap(({ id, fromSecond }) =>
    behind.map((reading) => {
      const window = { id, fromSecond, toSecond: endOfSpansSecond }
      return readTail(parts, query, reading, [window], passed.get(reading.at.partition))
    }),
  )
  let isPassed = false
  for (const { partition, answer } of await Promise.all(reads)) {
    if (answer.kind === 'summed') addByKey(sums, answer.amounts)
    else {
      passed.set(partition, answer)
      isPassed = true
    }
  }
  return isPassed ? 'passed' : sums
}

function addSpans(
  spans: ReadonlyMap<string, SpanUsage>,
  late: ReadonlyMap<string, bigint>,
): ReadonlyMap<string, SpanUsage> {
  const sums = new Map(spans)
  for (const [id, { usedMicros, buckets }] of spans) {
    sums.set(id, { usedMicros: usedMicros + (late.get(id) ?? 0n), buckets })
  }
  return sums
}

/**
 * Sums up the log's records of one reference beyond its applied offset, by window. The view and its offset are read in
 * one step, so view plus tail is exact even if the projection applies records in the meantime.
 */
async function readTail(
  { tails }: UsageParts,
  { environment, productRef, meterName, caller }: UsageQuery,
  { at, view, head }: Reading,
  windows: readonly CountingWindow[],
  passed: PassedTail | undefined,
): Promise<{ readonly partition: number; readonly answer: TailAnswer }> {
  const { subject, partition } = at
  // A record without a product counts for every product of the provider.
  const scopes = new Set([productRef, ''])
  const answer = await tails.read(at, usageTopic(environment), {
    fence: view.appliedOffset,
    head,
    series: Array.from(scopes, (scope) => ({ subject, scope, meterName })),
    windows,
    passed,
    caller,
  })
  return { partition, answer }
}

/**
 * Throws UsageBehindError if neither waiting nor the log's tail can help. Either the counters are too far behind, or
 * they were lost and the log no longer reaches back to its beginning, so that they must be rebuilt from another store.
 * Lost counters start at offset 0. The log, which may be a remote service, is only queried for such counters.
 */
async function refuseIfTooFarBehind(
  { log }: UsageParts,
  query: UsageQuery,
  readings: readonly Reading[],
): Promise<void> {
  const behind = readings.filter(isBehind)
  const recordsBehind = behind.reduce((sum, { head, view }) => sum + head - view.appliedOffset, 0)
  if (recordsBehind > query.tailRecordsMax) throw new UsageBehindError(recordsBehind)
  const topic = usageTopic(query.environment)
  for (const { at, view } of behind) {
    if (view.appliedOffset === 0 && (await log.oldest(topic, at.partition)) > 0) {
      throw new UsageBehindError(recordsBehind)
    }
  }
}

/** Returns the sum of all readings, keyed by window id. */
export function sumAmounts(readings: readonly Reading[]): Map<string, bigint> {
  return sumByKey(readings.map(({ view }) => view.amounts))
}
