import type { ItemJob } from '../jobs/job.ts'
import type { ScheduledJob } from '../jobs/job-catalogue.ts'
import { everyInstant } from '../schedule/schedule.ts'
import type { ClockJob } from './advance-clock.ts'

/**
 * Returns the jobs that run on clocks: those of real time that process items of the sandbox and are not turned off, and `continuous` jobs, which
 * the control plane runs in real time all the time. The latter come first at an instant.
 */
export function createClockJobs(
  jobs: readonly ScheduledJob[],
  ...continuous: readonly ItemJob[]
): ClockJob[] {
  return [
    ...continuous.map((job) => ({ ...job, schedule: everyInstant })),
    ...jobs.flatMap(({ job, schedule, spaces }) =>
      job.kind !== 'items' || schedule === undefined || !spaces.includes('sandbox')
        ? []
        : [{ ...job, schedule }],
    ),
  ]
}
