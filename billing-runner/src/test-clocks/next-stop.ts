import type { JobInstants } from '@tollgate/domain/calendar/clock-items'
import type { Schedule } from '../schedule/schedule.ts'

/** A job with the times at which it runs. */
export type Timed = { readonly name: string; readonly schedule: Pick<Schedule, 'nextSlot'> }

export type ClockTimes = {
  readonly timeReached: Date
  readonly processedTo: Date
  readonly advanceTo: Date
}

/** How long a job waits that did nothing at its last stop. */
export type Pause = { readonly until: Date; readonly ms: number }

/**
 * Returns where a clock stops next, or undefined if nothing is due before the end of the advance. A job runs at the first time of
 * its schedule at which one of its items is due, as it does in real time. Items that were due before and are still, because they
 * wait for something or for the schedule, are tried at the next time of the schedule, after the job's own pause: the stops of
 * other jobs must not postpone it further.
 *
 * The clock never goes back. It stands at `timeReached` behind `processedTo` if a runner was killed at that stop.
 */
export function nextStop<Job extends Timed>(
  jobs: readonly Job[],
  instants: ReadonlyMap<string, JobInstants>,
  { timeReached, processedTo, advanceTo }: ClockTimes,
  pauses: ReadonlyMap<string, Pause>,
): { readonly at: Date; readonly jobs: readonly Job[] } | undefined {
  const after = new Date(processedTo.getTime() + 1)
  const runs = jobs.flatMap((job) => {
    const { isOverdue, next } = instants.get(job.name) ?? { isOverdue: false, next: undefined }
    const times = [
      ...(isOverdue ? [job.schedule.nextSlot(later(after, pauses.get(job.name)?.until))] : []),
      ...(next === undefined ? [] : [job.schedule.nextSlot(next)]),
    ]
    return times.length === 0 ? [] : [{ job, atMs: Math.min(...times.map((at) => at.getTime())) }]
  })
  const firstMs = Math.max(timeReached.getTime(), Math.min(...runs.map(({ atMs }) => atMs)))
  if (runs.length === 0 || firstMs > advanceTo.getTime()) return undefined
  return {
    at: new Date(firstMs),
    jobs: runs.filter(({ atMs }) => atMs <= firstMs).map(({ job }) => job),
  }
}

function later(one: Date, other: Date | undefined): Date {
  return other === undefined || one >= other ? one : other
}
