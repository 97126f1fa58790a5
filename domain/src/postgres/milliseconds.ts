import type { Fragment } from 'postgres'
import type { Queryable } from '@tollgate/platform/database/database'

/** Returns a number of milliseconds as an interval. */
export function milliseconds(sql: Queryable, ms: number): Fragment {
  return sql`${ms}::float8 * interval '1 millisecond'`
}

/** Returns the end of a lease that begins now, by the clock of the database. */
export function leaseEnd(sql: Queryable, leaseMs: number): Fragment {
  return sql`clock_timestamp() + ${milliseconds(sql, leaseMs)}`
}
