import { carriedOverMicros, findPeriodToRollOver } from '@tollgate/domain/entitlements/carried-over'
import {
  countingWindows,
  periodAt,
  windowOfPeriod,
  type CountingWindow,
} from '@tollgate/domain/entitlements/counting-windows'
import type { MeterToRead, MeterUsage } from '@tollgate/domain/entitlements/charge-limits'
import { readCountedMeters } from '@tollgate/domain/entitlements/counted-meters-reader'
import type { CountedUsage } from '@tollgate/domain/entitlements/counted-usage-reader'
import { endOfSpansSecond, type SpanUsage } from '@tollgate/domain/entitlements/usage-query'
import { packUnits, type PackUnits } from '@tollgate/domain/entitlements/pack-units'
import type { TailParts } from '@tollgate/domain/entitlements/tail-parts'
import { UsageBehindError } from '@tollgate/domain/entitlements/usage-behind-error'
import { EventLogUnavailableError, type EventLog } from '@tollgate/platform/event-log/event-log'
import type { HotState } from '@tollgate/platform/hot-state/hot-state'
import type { Logger } from '@tollgate/platform/observability/logger'
import type { UsageStore } from '@tollgate/platform/usage-store/usage-store'
import type { Environment } from '@tollgate/schemas/environment'
import type { Entitlement } from '@tollgate/schemas/hot-state/documents'
import type { CustomerUsage } from '@tollgate/domain/stored-usage/query-stored-usage'
import type { PeriodUsageAnswers } from '../metrics.ts'
import { StoredReads } from '../usage/stored-reads.ts'
import { readStoredSeries, readStoredUsage } from '../usage/stored-usage.ts'

export type PeriodUsageParts = TailParts & {
  readonly eventLog: EventLog
  readonly hotState: HotState
  readonly usageStore: UsageStore
  readonly logger: Logger
  readonly limits: PeriodUsageLimits
  readonly answers: PeriodUsageAnswers
}

export type PeriodUsageLimits = {
  /** How long to wait until the counters include all records acknowledged before the call, in milliseconds. */
  readonly countersWaitMs: number
  /** Maximum number of log records that are read for one response. */
  readonly tailRecordsMax: number
  /** Maximum number of concurrent reads of the usage store. */
  readonly storedUsageChecksMax: number
}

/** One period of a purchase that gives access. */
export type PeriodOfPurchase = {
  readonly environment: Environment
  readonly providerId: string
  readonly productRef: string
  /** Entitlement that contains the period and every reference of the customer. */
  readonly entitlement: Entitlement
  readonly periodStartSecond: number
  /** Current time in Unix milliseconds. */
  readonly nowMs: number
}

/** Usage of a period, in 10^-6 units. */
export type UsageOfPeriod = {
  readonly usedMicros: bigint
  /** Units carried over from the previous period. */
  readonly carriedOverMicros: bigint
  /** Units of packs of the meter; undefined if the customer has none. */
  readonly packs: PackUnits | undefined
}

/** Pause in milliseconds after the hot state has failed, so that not every caller waits for a hot state that hangs. */
const hotStatePauseMs = 500

/**
 * Returns the usage of a period, including every record acknowledged before the call, whichever store is unavailable. Reads the
 * counters, with the tail of the log if they are slightly behind. Reads the usage store with the tail of the log while the hot
 * state does not respond or rebuilds lost counters.
 */
export class PeriodUsage {
  readonly #parts: PeriodUsageParts
  readonly #storedReads: StoredReads
  #hotStateFailedAtMs = -Infinity

  constructor(parts: PeriodUsageParts) {
    this.#parts = parts
    this.#storedReads = new StoredReads(parts.limits.storedUsageChecksMax)
  }

  /**
   * Reads the usage of a meter in a period. `prepare` makes the hot state count the period. Throws a refusal with status 503 if the
   * usage cannot be read completely now.
   */
  async read(
    period: PeriodOfPurchase,
    meterName: string,
    prepare: () => Promise<void> = () => Promise.resolve(),
  ): Promise<UsageOfPeriod> {
    const meter = { meterName, spans: [] }
    const read = await this.#readAmounts(period, [meter], prepare)
    return usageFromAmounts(period, meterName, read.get(meterName)!.amounts)
  }

  /**
   * Reads the usage of a meter in a period that the counters may no longer have, from the usage store and the log. Otherwise like
   * `read`.
   */
  async readPast(period: PeriodOfPurchase, meterName: string): Promise<UsageOfPeriod> {
    const read = await this.#readStored(period, [{ meterName, spans: [] }])
    return usageFromAmounts(period, meterName, read.get(meterName)!.amounts)
  }

  /** Reads the usage of meters in a period and in spans, all with one reading of each store. Otherwise like `read`. */
  async readMeters(
    period: PeriodOfPurchase,
    meters: readonly MeterToRead[],
    prepare: () => Promise<void>,
  ): Promise<ReadonlyMap<string, MeterUsage>> {
    const read = await this.#readAmounts(period, meters, prepare)
    return new Map(
      Array.from(read, ([meterName, { amounts, spans }]) => {
        const { usedMicros, packs } = usageFromAmounts(period, meterName, amounts)
        return [meterName, { periodMicros: usedMicros, spans, packs }]
      }),
    )
  }

  async #readAmounts(
    period: PeriodOfPurchase,
    meters: readonly MeterToRead[],
    prepare: () => Promise<void>,
  ): Promise<AmountsByMeter> {
    if (performance.now() - this.#hotStateFailedAtMs < hotStatePauseMs) {
      return await this.#readStored(period, meters)
    }
    try {
      await prepare()
      return await this.#readCounted(period, meters)
    } catch (error) {
      // No other store has records that the log cannot return.
      if (error instanceof EventLogUnavailableError) throw error
      if (!(error instanceof UsageBehindError)) {
        this.#hotStateFailedAtMs = performance.now()
        this.#parts.logger.warn(
          { err: error },
          'could not read usage from the hot state; ClickHouse is used instead',
        )
      }
    }
    return await this.#readStored(period, meters)
  }

  async #readCounted(
    period: PeriodOfPurchase,
    meters: readonly MeterToRead[],
  ): Promise<AmountsByMeter> {
    const { eventLog: log, hotState, tails, progress, limits, answers } = this.#parts
    const { environment, providerId, productRef, entitlement } = period
    const query = {
      environment,
      providerId,
      productRef,
      customerRef: entitlement.customerRef,
      customerRefs: entitlement.customerRefs,
      waitMs: limits.countersWaitMs,
      tailRecordsMax: limits.tailRecordsMax,
    }
    const { usage } = await readCountedMeters({ log, hotState, tails, progress }, query, meters)
    const [first] = usage.values()
    if (first !== undefined) answers.inc({ source: first.source })
    return usage
  }

  async #readStored(
    period: PeriodOfPurchase,
    meters: readonly MeterToRead[],
  ): Promise<AmountsByMeter> {
    const { environment, providerId, productRef, entitlement } = period
    const { customerRefs } = entitlement
    const windows = windowsToRead(period)
    const ofMeters = meters.map(({ meterName }) => ({ meterName, windows }))
    // Spans overlap, and the windows of one series must not.
    const ofSpans = meters.flatMap(({ meterName, spans }) =>
      spans.map(({ id, fromSecond }) => {
        return { meterName, windows: [{ id, fromSecond, toSecond: endOfSpansSecond }] }
      }),
    )
    const query = { environment, providerId, productRef, customerRefs }
    const read = await this.#countRead((tailRecordsMax) =>
      readStoredSeries(this.#parts, {
        ...query,
        series: [...ofMeters, ...ofSpans],
        tailRecordsMax,
      }),
    )
    const sumsOfSpans = read.slice(meters.length)
    return new Map(
      meters.map(({ meterName, spans }, index) => {
        const sums = spans.map(({ id }): [string, SpanUsage] => {
          return [id, { usedMicros: sumsOfSpans.shift()!.get(id) ?? 0n, buckets: new Map() }]
        })
        return [meterName, { amounts: read[index]!, spans: new Map(sums) }]
      }),
    )
  }

  /**
   * Returns the usage of each window by its id, from the usage store and the tail of the log. Throws a refusal with status 503 if
   * it is not available now.
   */
  async readWindows(query: CustomerUsage): Promise<ReadonlyMap<string, bigint>> {
    return await this.#countRead((tailRecordsMax) =>
      readStoredUsage(this.#parts, { ...query, tailRecordsMax }),
    )
  }

  async #countRead<Result>(act: (tailRecordsMax: number) => Promise<Result>): Promise<Result> {
    const { limits, answers } = this.#parts
    try {
      const read = await this.#storedReads.run(() => act(limits.tailRecordsMax))
      answers.inc({ source: 'stored' })
      return read
    } catch (error) {
      answers.inc({ source: 'none' })
      throw error
    }
  }
}

type AmountsByMeter = ReadonlyMap<string, Pick<CountedUsage, 'amounts' | 'spans'>>

type EntitledPeriodAt = Pick<PeriodOfPurchase, 'entitlement' | 'periodStartSecond' | 'nowMs'>

function usageFromAmounts(
  { entitlement, periodStartSecond, nowMs }: EntitledPeriodAt,
  meterName: string,
  amounts: ReadonlyMap<string, bigint>,
): UsageOfPeriod {
  const period = periodAt(entitlement, periodStartSecond)
  return {
    usedMicros: amounts.get(windowOfPeriod(entitlement, periodStartSecond)) ?? 0n,
    carriedOverMicros: carriedOverMicros(entitlement, period, amounts, nowMs),
    packs: packUnits(entitlement, meterName, period, amounts, nowMs),
  }
}

/**
 * Returns the windows to read: the window of the period, that of the period from which units are carried over, and for packs those
 * of all earlier periods that are listed.
 */
function windowsToRead({
  entitlement,
  periodStartSecond,
  nowMs,
}: EntitledPeriodAt): CountingWindow[] {
  const period = periodAt(entitlement, periodStartSecond)
  const starts = [period, findPeriodToRollOver(entitlement, period, nowMs)].map(
    (each) => each?.startSecond,
  )
  const isRead = (startSecond: number): boolean =>
    starts.includes(startSecond) ||
    (entitlement.packs !== undefined && startSecond < periodStartSecond)
  return countingWindows(entitlement).filter((_, index) =>
    isRead(entitlement.periods[index]!.startSecond),
  )
}
