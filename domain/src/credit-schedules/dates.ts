import type { Fragment } from 'postgres'
import type { Queryable } from '@tollgate/platform/database/database'
import type { ScheduleInterval } from '@tollgate/schemas/http/credit-schedules'

/** The first date of a schedule, and the interval in which the others follow. */
export type CountedDates = {
  readonly countedFrom: Date
  readonly every: ScheduleInterval
  readonly timeZone: string
}

/*
 * PostgreSQL counts the dates, because it knows the time zones. Each date has the local time of the first one, and is counted from it:
 * 31 January, 28 February, 31 March. A local time that a clock change skips is moved by the skipped hour.
 */

/** Returns the date that is `step` steps after the first one. */
export async function dateOf(sql: Queryable, dates: CountedDates, step: number): Promise<Date> {
  const [row] = await sql<[{ at: Date }]>`select ${dateAt(sql, dates, sql`${step}::integer`)} as at`
  return row.at
}

/** Returns the first step of at least `step` whose date is at `from` or later, and its date. */
export async function firstDateFrom(
  sql: Queryable,
  dates: CountedDates,
  step: number,
  from: Date,
): Promise<{ readonly step: number; readonly at: Date }> {
  const elapsedMs = from.getTime() - dates.countedFrom.getTime()
  const estimate = Math.floor(elapsedMs / (stepMs[dates.every.unit] * dates.every.count))
  const first = Math.max(step, estimate - estimateError)
  const last = first + 2 * estimateError + 1
  const [row] = await sql<{ step: number; at: Date }[]>`
    select step, at from (
      select step, ${dateAt(sql, dates, sql`step`)} as at
      from generate_series(${first}::integer, ${last}::integer) as step
    ) as dates where at >= ${from} order by step limit 1`
  if (row === undefined) throw new Error(`no date of the schedule is at ${from.toISOString()}`)
  return row
}

/** Mean lengths in milliseconds. A number of steps that is estimated with them is wrong by less than `estimateError`. */
const stepMs = { day: 86_400_000, week: 7 * 86_400_000, month: 30.436875 * 86_400_000 } as const
const estimateError = 3

function dateAt(
  sql: Queryable,
  { countedFrom, every, timeZone }: CountedDates,
  step: Fragment,
): Fragment {
  const length = `${every.count} ${every.unit}`
  return sql`((${countedFrom}::timestamptz at time zone ${timeZone}::text)
    + ${step} * ${length}::interval) at time zone ${timeZone}::text`
}
