/** The progress of one projection in one partition at one moment. */
export type Progress = {
  readonly position: number
  readonly head: number
  /** Age of the oldest unprocessed record in milliseconds, or 0 if there is none. */
  readonly lagMs: number
  readonly lagRecords: number
  /**
   * Time at which the position stopped advancing although records wait, in Unix milliseconds. Undefined while it advances or no
   * record waits.
   */
  readonly stalledSinceMs: number | undefined
}

export const noProgress: Progress = {
  position: 0,
  head: 0,
  lagMs: 0,
  lagRecords: 0,
  stalledSinceMs: undefined,
}

export type Observation = {
  readonly position: number
  readonly head: number
  readonly oldestReceivedAtMs: number | undefined
  readonly nowMs: number
}

export function observeProgress(before: Progress, seen: Observation): Progress {
  const lagRecords = Math.max(0, seen.head - seen.position)
  const isWaiting = lagRecords > 0
  const hasMoved = seen.position !== before.position
  return {
    position: seen.position,
    head: seen.head,
    lagRecords,
    lagMs:
      isWaiting && seen.oldestReceivedAtMs !== undefined
        ? Math.max(0, seen.nowMs - seen.oldestReceivedAtMs)
        : 0,
    stalledSinceMs: !isWaiting || hasMoved ? undefined : (before.stalledSinceMs ?? seen.nowMs),
  }
}

/**
 * Returns whether the position has not advanced for `stuckAfterMs` although records wait. Such a process seems alive but does
 * nothing.
 */
export function isStuck(progress: Progress, nowMs: number, stuckAfterMs: number): boolean {
  return progress.stalledSinceMs !== undefined && nowMs - progress.stalledSinceMs >= stuckAfterMs
}
