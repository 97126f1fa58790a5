/** How far one projection is in one partition, at one moment. */
export type Progress = {
  readonly position: number
  readonly head: number
  /** Age of the oldest record that is not processed; 0 when there is none. */
  readonly lagMs: number
  readonly lagRecords: number
  /** Since when the position has stood still with records behind it; undefined while it moves or nothing waits. */
  readonly standingSinceMs: number | undefined
}

export const noProgress: Progress = {
  position: 0,
  head: 0,
  lagMs: 0,
  lagRecords: 0,
  standingSinceMs: undefined,
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
    standingSinceMs: !isWaiting || hasMoved ? undefined : (before.standingSinceMs ?? seen.nowMs),
  }
}

/** A lag that grows while the offset stands still: an instance that looks alive and does nothing. */
export function isStuck(progress: Progress, nowMs: number, stuckAfterMs: number): boolean {
  return progress.standingSinceMs !== undefined && nowMs - progress.standingSinceMs >= stuckAfterMs
}
