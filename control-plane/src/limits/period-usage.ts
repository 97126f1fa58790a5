import {
  carriedOverMicros,
  entitledPeriodThatLeaves,
} from '@tollgate/domain/entitlements/carried-over'
import {
  countingWindows,
  windowOfPeriod,
  type CountingWindow,
  type EntitledPeriod,
} from '@tollgate/domain/entitlements/counting-windows'
import { readCountedUsage } from '@tollgate/domain/entitlements/counted-usage-reader'
import type { TailParts } from '@tollgate/domain/entitlements/tail-parts'
import { UsageBehindError } from '@tollgate/domain/entitlements/usage-behind-error'
import { EventLogUnavailableError, type EventLog } from '@tollgate/platform/event-log/event-log'
import type { HotState } from '@tollgate/platform/hot-state/hot-state'
import type { Logger } from '@tollgate/platform/observability/logger'
import type { UsageStore } from '@tollgate/platform/usage-store/usage-store'
import type { Environment } from '@tollgate/schemas/environment'
import type { Entitlement } from '@tollgate/schemas/hot-state/documents'
import { requestsMeterName } from '@tollgate/schemas/http/meter-events'
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
  /** How long to wait for the counters to reach what was acknowledged before. */
  readonly countersWaitMs: number
  /** Records of the log that are read for one answer. */
  readonly tailRecordsMax: number
  /** Answers from the usage store at a time. */
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
  readonly #storedReads: StoredReads
  #hotStateFailedAtMs = -Infinity

  constructor(parts: PeriodUsageParts) {
    this.#parts = parts
    this.#storedReads = new StoredReads(parts.limits.storedUsageChecksMax)
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
    const { eventLog: log, hotState, tails, progress, limits, answers } = this.#parts
    const { environment, providerId, productRef, entitlement } = period
    const { amounts, source } = await readCountedUsage(
      { log, hotState, tails, progress },
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

  #readStored(period: PeriodOfPurchase): Promise<ReadonlyMap<string, bigint>> {
    const { environment, providerId, productRef, entitlement } = period
    const { customerRefs } = entitlement
    const windows = windowsOf(period)
    return this.readWindows({ environment, providerId, productRef, customerRefs, windows })
  }

  /**
   * Returns what was used in each of the windows by their ids, from the usage store and the log's tail. Throws a refusal
   * with 503 when that is not known now.
   */
  async readWindows(query: Omit<CustomerUsage, 'meterName'>): Promise<ReadonlyMap<string, bigint>> {
    const { limits, answers } = this.#parts
    try {
      const { tailRecordsMax } = limits
      const whole = { ...query, meterName: requestsMeterName, tailRecordsMax }
      const amounts = await this.#storedReads.run(() => readStoredUsage(this.#parts, whole))
      answers.inc({ source: 'stored' })
      return amounts
    } catch (error) {
      answers.inc({ source: 'none' })
      throw error
    }
  }
}

type Counted = Pick<PeriodOfPurchase, 'entitlement' | 'periodStartSecond' | 'nowMs'>

function usedOf(of: Counted, amounts: ReadonlyMap<string, bigint>): UsedOfPeriod {
  const { entitlement, periodStartSecond, nowMs } = of
  return {
    usedMicros: amounts.get(windowOfPeriod(entitlement, periodStartSecond)) ?? 0n,
    carriedOverMicros: carriedOverMicros(entitlement, periodOf(of), amounts, nowMs),
  }
}

/** Those whose usage is asked for: that of the period, and of the one that it was left something by. */
function windowsOf(of: Counted): CountingWindow[] {
  const { entitlement, nowMs } = of
  const period = periodOf(of)
  const starts = [period, entitledPeriodThatLeaves(entitlement, period, nowMs)].map(
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
