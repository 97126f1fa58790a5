import { Cron } from 'croner'
import type { Setting } from '@tollgate/platform/config/settings'

/** The times at which a job runs, in UTC. */
export type Schedule = {
  /** The last one until that instant, which included. */
  latestSlot(now: Date): Date
}

/** Far enough ahead that every pattern that ever comes has come. */
const someDay = new Date('2100-01-01T00:00:00Z')

/** Throws where the text is no pattern, or one that never comes, such as the 30th of February. */
export function parseSchedule(pattern: string): Schedule {
  const cron = new Cron(pattern, { timezone: 'UTC', paused: true })
  const latestBefore = (instant: Date): Date | undefined => cron.previousRuns(1, instant)[0]
  if (latestBefore(someDay) === undefined) throw new Error('never comes')
  return {
    latestSlot: (now) => {
      const found = latestBefore(new Date(now.getTime() + 1))
      if (found === undefined) throw new Error(`${pattern} never came before ${now.toISOString()}`)
      return found
    },
  }
}

/** Undefined: the job never runs by itself. */
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
