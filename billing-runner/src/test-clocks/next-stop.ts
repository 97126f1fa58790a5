import type { JobInstants } from '@tollgate/domain/calendar/clock-items'
import type { Schedule } from '../schedule/schedule.ts'

/** A job with the times at which it runs. */
export type Timed = { readonly name: string; readonly schedule: Pick<Schedule, 'nextSlot'> }

export type ClockTimes = {
  readonly timeReached: Date
  readonly processedTo: Date
  readonly advanceTo: Date
}

/**
 * Returns where a clock stops next, or undefined if nothing is due before the end of the advance. A job runs at the first time of
 * its schedule at which one of its items is due, as it does in real time. Items that were due before and are still, because they
 * wait for something, are tried again at each time of the schedule, and after `pauseMs` if that is later.
 *
 * The clock never goes back. It stands at `timeReached` behind `processedTo` if a runner was killed at that stop.
 */
export function nextStop<Job extends Timed>(
  jobs: readonly Job[],
  instants: ReadonlyMap<string, JobInstants>,
  { timeReached, processedTo, advanceTo }: ClockTimes,
  pauseMs: number,
): { readonly at: Date; readonly jobs: readonly Job[] } | undefined {
  const after = new Date(processedTo.getTime() + 1)
  const runs = jobs.flatMap((job) => {
    const { isOverdue, next } = instants.get(job.name) ?? { isOverdue: false, next: undefined }
    const times = [
      ...(isOverdue ? [job.schedule.nextSlot(later(after, processedTo.getTime() + pauseMs))] : []),
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

function later(one: Date, otherMs: number): Date {
  return one.getTime() >= otherMs ? one : new Date(otherMs)
}
