import type { Clock } from '@tollgate/platform/clock/clock'

/** Stands still until a test moves it. */
export type ManualClock = Clock & { set(instant: string | number): void }

export function createManualClock(instant: string): ManualClock {
  let nowMs = Date.parse(instant)
  return {
    now: () => nowMs,
    set: (next) => (nowMs = typeof next === 'number' ? next : Date.parse(next)),
  }
}
