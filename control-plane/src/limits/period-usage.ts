import { carriedOverMicros, findPeriodToRollOver } from '@tollgate/domain/entitlements/carried-over'
import {
  countingWindows,
  periodAt,
  windowOfPeriod,
  type CountingWindow,
} from '@tollgate/domain/entitlements/counting-windows'
import type { MeterToRead, MeterUsage } from '@tollgate/domain/entitlements/charge-limits'
import {
  readCountedUsage,
  type CountedUsage,
} from '@tollgate/domain/entitlements/counted-usage-reader'
import { endOfSpansSecond, type SpanUsage } from '@tollgate/domain/entitlements/usage-query'
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
import { readStoredUsage } from '../usage/stored-usage.ts'

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
    const { amounts } = await this.#readAmounts(period, { meterName, spans: [] }, prepare)
    return usageFromAmounts(period, amounts)
  }

  /**
   * Reads the usage of a meter in a period that the counters may no longer have, from the usage store and the log. Otherwise like
   * `read`.
   */
  async readPast(period: PeriodOfPurchase, meterName: string): Promise<UsageOfPeriod> {
    const { amounts } = await this.#readStored(period, { meterName, spans: [] })
    return usageFromAmounts(period, amounts)
  }

  /** Reads the usage of a meter in a period and in spans. Otherwise like `read`. */
  async readMeter(
    period: PeriodOfPurchase,
    meter: MeterToRead,
    prepare: () => Promise<void>,
  ): Promise<MeterUsage> {
    const { amounts, spans } = await this.#readAmounts(period, meter, prepare)
    return { periodMicros: usageFromAmounts(period, amounts).usedMicros, spans }
  }

  async #readAmounts(
    period: PeriodOfPurchase,
    meter: MeterToRead,
    prepare: () => Promise<void>,
  ): Promise<ReadAmounts> {
    if (performance.now() - this.#hotStateFailedAtMs < hotStatePauseMs) {
      return await this.#readStored(period, meter)
    }
    try {
      await prepare()
      return await this.#readCounted(period, meter)
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
    return await this.#readStored(period, meter)
  }

  async #readCounted(period: PeriodOfPurchase, meter: MeterToRead): Promise<ReadAmounts> {
    const { eventLog: log, hotState, tails, progress, limits, answers } = this.#parts
    const { environment, providerId, productRef, entitlement } = period
    const { amounts, spans, source } = await readCountedUsage(
      { log, hotState, tails, progress },
      {
        environment,
        providerId,
        productRef,
        customerRef: entitlement.customerRef,
        customerRefs: entitlement.customerRefs,
        ...meter,
        waitMs: limits.countersWaitMs,
        tailRecordsMax: limits.tailRecordsMax,
      },
    )
    answers.inc({ source })
    return { amounts, spans }
  }

  async #readStored(
    period: PeriodOfPurchase,
    { meterName, spans }: MeterToRead,
  ): Promise<ReadAmounts> {
    const { environment, providerId, productRef, entitlement } = period
    const { customerRefs } = entitlement
    const query = { environment, providerId, productRef, customerRefs, meterName }
    const amounts = await this.readWindows({ ...query, windows: windowsToRead(period) })
    const read = new Map<string, SpanUsage>()
    // Spans overlap, and the windows of one query must not.
    for (const { id, fromSecond } of spans) {
      const window = { id, fromSecond, toSecond: endOfSpansSecond }
      const sums = await this.readWindows({ ...query, windows: [window] })
      read.set(id, { usedMicros: sums.get(id) ?? 0n, buckets: new Map() })
    }
    return { amounts, spans: read }
  }

  /**
   * Returns the usage of each window by its id, from the usage store and the tail of the log. Throws a refusal with status 503 if
   * it is not available now.
   */
  async readWindows(query: CustomerUsage): Promise<ReadonlyMap<string, bigint>> {
    const { limits, answers } = this.#parts
    try {
      const { tailRecordsMax } = limits
      const fullQuery = { ...query, tailRecordsMax }
      const amounts = await this.#storedReads.run(() => readStoredUsage(this.#parts, fullQuery))
      answers.inc({ source: 'stored' })
      return amounts
    } catch (error) {
      answers.inc({ source: 'none' })
      throw error
    }
  }
}

type ReadAmounts = Pick<CountedUsage, 'amounts' | 'spans'>

type EntitledPeriodAt = Pick<PeriodOfPurchase, 'entitlement' | 'periodStartSecond' | 'nowMs'>

function usageFromAmounts(
  { entitlement, periodStartSecond, nowMs }: EntitledPeriodAt,
  amounts: ReadonlyMap<string, bigint>,
): UsageOfPeriod {
  const period = periodAt(entitlement, periodStartSecond)
  return {
    usedMicros: amounts.get(windowOfPeriod(entitlement, periodStartSecond)) ?? 0n,
    carriedOverMicros: carriedOverMicros(entitlement, period, amounts, nowMs),
  }
}

/** Returns the windows to read: the window of the period, and the window of the period from which units are carried over. */
function windowsToRead({
  entitlement,
  periodStartSecond,
  nowMs,
}: EntitledPeriodAt): CountingWindow[] {
  const period = periodAt(entitlement, periodStartSecond)
  const starts = [period, findPeriodToRollOver(entitlement, period, nowMs)].map(
    (each) => each?.startSecond,
  )
  return countingWindows(entitlement).filter((_, index) =>
    starts.includes(entitlement.periods[index]!.startSecond),
  )
}
