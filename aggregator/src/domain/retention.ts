import type { SweepLimits } from '@tollgate/platform/hot-state/hot-state'

/** How long things are kept, all in milliseconds. */
export type Retention = {
  /** How long a repeated idempotency key is known for one. */
  readonly marksMs: number
  /** How long the counters of an ended period are kept. */
  readonly windowsMs: number
  /** How long usage waits to be counted for a customer or purchase that does not exist yet. */
  readonly slotsMs: number
  /** The same, for the usage of a known customer. */
  readonly knownSubjectSlotsMs: number
  readonly sweepKeysMax: number
}

/**
 * How long after the last reservation of a customer and product has expired it is remembered what was counted of them
 * elsewhere: longer than anybody who has read it needs to reserve, whatever our clock and that of HotState say.
 */
const reservationsKeptMs = 10 * 60_000

/**
 * `oldestRecordMs` is when the oldest record that the log still has was received; undefined: it has none. Marks of
 * records in the log stay whatever their age, because whoever reads such a record again must decide as before.
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
