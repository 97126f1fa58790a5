import { carriedOverMicros, periodThatLeaves } from '@tollgate/domain/entitlements/carried-over'
import {
  countingWindows,
  type CountingWindow,
  type EntitledPeriod,
} from '@tollgate/domain/entitlements/counting-windows'
import { readCountedUsage } from '@tollgate/domain/entitlements/counted-usage-reader'
import { UsageBehindError } from '@tollgate/domain/entitlements/usage-behind-error'
import { EventLogUnavailableError, type EventLog } from '@tollgate/platform/event-log/event-log'
import type { HotState } from '@tollgate/platform/hot-state/hot-state'
import type { Logger } from '@tollgate/platform/observability/logger'
import {
  UsageStoreUnavailableError,
  type UsageStore,
} from '@tollgate/platform/usage-store/usage-store'
import type { Environment } from '@tollgate/schemas/environment'
import { windowId, type Entitlement } from '@tollgate/schemas/hot-state/documents'
import { requestsMeterName } from '@tollgate/schemas/http/meter-events'
import { refusals } from '../errors.ts'
import type { PeriodUsageAnswers } from '../metrics.ts'
import { readStoredUsage } from '../usage/stored-usage.ts'

export type PeriodUsageParts = {
  readonly eventLog: EventLog
  readonly hotState: HotState
  readonly usageStore: UsageStore
  readonly logger: Logger
  readonly limits: PeriodUsageLimits
  readonly answers: PeriodUsageAnswers
}

export type PeriodUsageLimits = {
  /** How long to wait for the counters to reach what was acknowledged before. */
  readonly countersWaitMs: number
  /** Records of the log that are read for one answer. */
  readonly tailRecordsMax: number
  /** Answers from the usage store at a time: each costs it two queries, and this process the reading of the tail. */
  readonly storedUsageChecksMax: number
}

/** One period of a purchase that gives access. */
export type PeriodOfPurchase = {
  readonly environment: Environment
  readonly providerId: string
  readonly productRef: string
  /** With the period, and every reference of the customer. */
  readonly entitlement: Entitlement
  readonly periodStartSecond: number
  /** Unix milliseconds. */
  readonly nowMs: number
}

/** 10^-6 units. */
export type UsedOfPeriod = {
  readonly usedMicros: bigint
  /** What it was left by the period before. */
  readonly carriedOverMicros: bigint
}

/** A hot state that hangs is not waited for by every caller. */
const failedPauseMs = 500

/**
 * Says what was used in a period, including everything that was acknowledged before, whichever part is away: from the
 * counters, with the log's tail where they are a little behind, and from the usage store with the log's tail while the
 * hot state does not answer or makes lost counters again.
 */
export class PeriodUsage {
  readonly #parts: PeriodUsageParts
  #storedInFlight = 0
  #hotStateFailedAtMs = -Infinity

  constructor(parts: PeriodUsageParts) {
    this.#parts = parts
  }

  /**
   * `prepare` sees to it that the hot state counts the period. Throws a refusal with 503 when it cannot
   * be said truthfully now.
   */
  async read(
    period: PeriodOfPurchase,
    prepare: () => Promise<void> = () => Promise.resolve(),
  ): Promise<UsedOfPeriod> {
    return usedOf(period, await this.#readAmounts(period, prepare))
  }

  async #readAmounts(
    period: PeriodOfPurchase,
    prepare: () => Promise<void>,
  ): Promise<ReadonlyMap<string, bigint>> {
    if (performance.now() - this.#hotStateFailedAtMs < failedPauseMs) {
      return await this.#readStored(period)
    }
    try {
      await prepare()
      return await this.#readCounted(period)
    } catch (error) {
      // Records that cannot be read are not to be had from anywhere else.
      if (error instanceof EventLogUnavailableError) throw error
      if (!(error instanceof UsageBehindError)) {
        this.#hotStateFailedAtMs = performance.now()
        this.#parts.logger.warn({ err: error }, 'the hot state cannot say what was used')
      }
    }
    return await this.#readStored(period)
  }

  async #readCounted(period: PeriodOfPurchase): Promise<ReadonlyMap<string, bigint>> {
    const { eventLog: log, hotState, limits, answers } = this.#parts
    const { environment, providerId, productRef, entitlement } = period
    const { amounts, source } = await readCountedUsage(
      { log, hotState },
      {
        environment,
        providerId,
        productRef,
        customerRef: entitlement.customerRef,
        customerRefs: entitlement.customerRefs,
        meterName: requestsMeterName,
        waitMs: limits.countersWaitMs,
        tailRecordsMax: limits.tailRecordsMax,
      },
    )
    answers.inc({ source })
    return amounts
  }

  async #readStored(period: PeriodOfPurchase): Promise<ReadonlyMap<string, bigint>> {
    const { limits, answers } = this.#parts
    if (this.#storedInFlight >= limits.storedUsageChecksMax) {
      answers.inc({ source: 'none' })
      throw refusals.countersBehind()
    }
    this.#storedInFlight += 1
    try {
      const amounts = await readStoredUsage(this.#parts, this.#storedQuery(period))
      answers.inc({ source: 'stored' })
      return amounts
    } catch (error) {
      answers.inc({ source: 'none' })
      const isPassing =
        error instanceof UsageBehindError || error instanceof UsageStoreUnavailableError
      throw isPassing ? refusals.countersBehind() : error
    } finally {
      this.#storedInFlight -= 1
    }
  }

  #storedQuery({ environment, providerId, productRef, ...of }: PeriodOfPurchase) {
    const { tailRecordsMax } = this.#parts.limits
    const { customerRefs } = of.entitlement
    const meterName = requestsMeterName
    const windows = windowsOf(of)
    return { environment, providerId, productRef, customerRefs, meterName, windows, tailRecordsMax }
  }
}

type Counted = Pick<PeriodOfPurchase, 'entitlement' | 'periodStartSecond' | 'nowMs'>

function usedOf(of: Counted, amounts: ReadonlyMap<string, bigint>): UsedOfPeriod {
  const { entitlement, periodStartSecond, nowMs } = of
  return {
    usedMicros: amounts.get(windowId(entitlement.purchaseRef, periodStartSecond)) ?? 0n,
    carriedOverMicros: carriedOverMicros(entitlement, periodOf(of), amounts, nowMs),
  }
}

/** Those whose usage is asked for: that of the period, and of the one that it was left something by. */
function windowsOf(of: Counted): CountingWindow[] {
  const { entitlement, nowMs } = of
  const period = periodOf(of)
  const starts = [period, periodThatLeaves(entitlement, period, nowMs)].map(
    (each) => each?.startSecond,
  )
  return countingWindows(entitlement).filter((_, index) =>
    starts.includes(entitlement.periods[index]!.startSecond),
  )
}

function periodOf({ entitlement, periodStartSecond }: Counted): EntitledPeriod {
  const period = entitlement.periods.find(({ startSecond }) => startSecond === periodStartSecond)
  if (period === undefined) throw new Error(`${entitlement.purchaseRef} has no such period`)
  return period
}
