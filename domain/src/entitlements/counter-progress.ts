import type { EntryAddress } from '@tollgate/platform/hot-state/hot-state'

export type ProgressLimits = {
  /** How long the counters of a partition may stand still before a caller stops waiting for them, in milliseconds. */
  readonly standstillMs: number
  /** A caller that is more records behind does not wait if it can read the records itself. */
  readonly awaitedRecordsMax: number
}

/** How far the counters of one partition are, and how far a caller needs them. Offsets. */
export type Lag = {
  readonly at: Pick<EntryAddress, 'space' | 'partition'>
  readonly appliedOffset: number
  readonly head: number
}

/**
 * Decides how long waiting for the counters is worthwhile: only while they move. All callers of a process share this
 * knowledge, so counters that stand still cost one wait, not one wait per caller.
 */
export class CounterProgress {
  readonly #limits: ProgressLimits
  /**
   * Keyed by partition: the last offset at which the counters were seen behind, and when they were first seen there.
   */
  readonly #lastSeen = new Map<string, { offset: number; sinceMs: number }>()

  constructor(limits: ProgressLimits) {
    this.#limits = limits
  }

  /**
   * Returns for how many milliseconds to wait at most before the next check. Returns 0 if reading the records is
   * faster, because the counters stand still or are far behind.
   */
  patienceMs(lags: readonly Lag[]): number {
    const { standstillMs, awaitedRecordsMax } = this.#limits
    const isFar = lags.some(({ appliedOffset, head }) => head - appliedOffset > awaitedRecordsMax)
    const leftMs = this.#leftMs(lags, standstillMs)
    return isFar ? 0 : leftMs
  }

  /** Like `patienceMs`, for callers that can only wait, however far the counters are behind. */
  patienceWithoutTailMs(lags: readonly Lag[], waitMs: number): number {
    return this.#leftMs(lags, waitMs)
  }

  #leftMs(lags: readonly Lag[], standstillMs: number): number {
    let leftMs = Infinity
    for (const lag of lags) {
      if (lag.appliedOffset < lag.head)
        leftMs = Math.min(leftMs, standstillMs - this.#standstillMs(lag))
    }
    return Math.max(0, leftMs)
  }

  #standstillMs({ at: { space, partition }, appliedOffset: offset }: Lag): number {
    const place = `${space}/${partition}`
    const nowMs = performance.now()
    const lastSeen = this.#lastSeen.get(place)
    if (lastSeen?.offset === offset) return nowMs - lastSeen.sinceMs
    this.#lastSeen.set(place, { offset, sinceMs: nowMs })
    return 0
  }
}
