import { Cron } from 'croner'
import type { Setting } from '@tollgate/platform/config/settings'

/** The times at which a job runs, in UTC. */
export type Schedule = {
  /** Returns the latest time of the schedule at or before `now`. */
  latestSlot(now: Date): Date
  /** Returns the first time of the schedule at or after `instant`. */
  nextSlot(instant: Date): Date
}

/** The schedule of a job that runs at the very instant at which something is due. */
export const everyInstant: Pick<Schedule, 'nextSlot'> = { nextSlot: (instant) => instant }

/** A time far enough ahead that every possible pattern has occurred before it. */
const farFuture = new Date('2100-01-01T00:00:00Z')

/** Parses a cron pattern. Throws if it is malformed or never occurs, such as the 30th of February. */
export function parseSchedule(pattern: string): Schedule {
  const cron = new Cron(pattern, { timezone: 'UTC', paused: true })
  const latestBefore = (instant: Date): Date | undefined => cron.previousRuns(1, instant)[0]
  if (latestBefore(farFuture) === undefined) throw new Error('the schedule never occurs')
  return {
    latestSlot: (now) => {
      const found = latestBefore(new Date(now.getTime() + 1))
      if (found === undefined)
        throw new Error(`${pattern} did not occur before ${now.toISOString()}`)
      return found
    },
    nextSlot: (instant) => {
      const found = cron.nextRun(new Date(instant.getTime() - 1))
      if (found === null)
        throw new Error(`${pattern} does not occur after ${instant.toISOString()}`)
      return found
    },
  }
}

/** Defines the schedule setting of a job. Its value is undefined if the job never runs by itself. */
export function scheduleSetting(
  variable: string,
  what: string,
  pattern: string,
): Setting<Schedule | undefined> {
  return {
    variable,
    description: `When ${what}: minute, hour, day, month and weekday in UTC as cron has them, or \`off\``,
    defaultText: pattern,
    parse: (text) => (text === 'off' ? undefined : parseSchedule(text)),
  }
}
