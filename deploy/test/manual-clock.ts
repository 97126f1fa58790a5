import type { Clock } from '@tollgate/platform/clock/clock'

/** A clock that only moves when a test sets it. */
export type ManualClock = Clock & { set(instant: string | number): void }

export function createManualClock(instant: string): ManualClock {
  let nowMs = Date.parse(instant)
  return {
    now: () => nowMs,
    set: (next) => (nowMs = typeof next === 'number' ? next : Date.parse(next)),
  }
}
