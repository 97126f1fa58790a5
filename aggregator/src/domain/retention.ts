import type { SweepLimits } from '@tollgate/platform/hot-state/hot-state'

/** Retention of data in the hot state. All durations are in milliseconds. */
export type Retention = {
  /** A repeated idempotency key is recognized for this time. */
  readonly marksMs: number
  /** The counters of an ended period are kept for this time. */
  readonly windowsMs: number
  /** Usage waits for this time to be counted for a customer or purchase that does not exist yet. */
  readonly slotsMs: number
  /** Usage of a known customer waits for this time for its purchase. */
  readonly knownSubjectSlotsMs: number
  readonly sweepKeysMax: number
}

/**
 * Milliseconds for which the hot state remembers which usage other partitions counted, after the last reservation of a customer and
 * product has expired. This is longer than any process takes from reading this usage to making its reservation, even if the clocks
 * of this process and HotState differ.
 */
const reservationsKeptMs = 10 * 60_000

/**
 * Returns the limits of a sweep. `oldestRecordMs` is when the oldest record in the log was received, or undefined if the log is
 * empty. Marks of records in the log are kept at any age, because a process that reads such a record again must reach the same
 * verdict.
 */
export function sweepLimits(
  retention: Retention,
  nowMs: number,
  oldestRecordMs: number | undefined,
): SweepLimits {
  const secondBefore = (ageMs: number): number => Math.floor((nowMs - ageMs) / 1000)
  return {
    marksReceivedBeforeMs: Math.min(nowMs - retention.marksMs, oldestRecordMs ?? Infinity),
    reservationsExpiredBeforeMs: nowMs - reservationsKeptMs,
    windowsEndedBeforeSecond: secondBefore(retention.windowsMs),
    slotsBeforeSecond: secondBefore(retention.slotsMs),
    knownSubjectSlotsBeforeSecond: secondBefore(retention.knownSubjectSlotsMs),
    keysMax: retention.sweepKeysMax,
  }
}
