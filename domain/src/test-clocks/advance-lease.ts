import type { Queryable } from '@tollgate/platform/database/database'
import { leaseEnd } from '../postgres/milliseconds.ts'
import { testClockFromRow, type TestClockRow } from './repository.ts'
import type { TestClock } from './test-clock.ts'

/** A clock that a runner advances. Its token names the runner. */
export type AdvancingClock = Pick<TestClock, 'reference' | 'timeReached' | 'processedTo'> & {
  readonly providerId: string
  readonly advanceTo: Date
  readonly leaseToken: string
}

/**
 * Claims the clock that waits longest for a runner, for `leaseMs` by the clock of the database. A clock whose runner has died is
 * claimed again when its lease has expired.
 */
export async function claimAdvancingClock(
  sql: Queryable,
  leaseToken: string,
  leaseMs: number,
): Promise<AdvancingClock | undefined> {
  const [row] = await sql<(TestClockRow & { provider_id: string })[]>`
    update test_clocks set lease_token = ${leaseToken}, leased_until = ${leaseEnd(sql, leaseMs)}
    where (provider_id, reference) in (
      select provider_id, reference from test_clocks
      where status = 'advancing' and coalesce(leased_until, '-infinity') <= clock_timestamp()
      order by leased_until nulls first, updated_at limit 1 for update skip locked)
    returning *`
  if (row === undefined) return undefined
  const { reference, timeReached, processedTo, advanceTo } = testClockFromRow(row)
  if (advanceTo === null) throw new Error(`the clock ${reference} advances to no time`)
  const { provider_id: providerId } = row
  return { providerId, reference, timeReached, processedTo, advanceTo, leaseToken }
}

/**
 * Moves the clock and extends the lease. Returns false, without a change, if the clock is no longer advanced by this runner: it was
 * paused or deleted, or another runner has claimed it.
 */
export async function moveClock(
  sql: Queryable,
  { providerId, reference, leaseToken }: AdvancingClock,
  { timeReached, processedTo }: Pick<TestClock, 'timeReached' | 'processedTo'>,
  realNow: Date,
  leaseMs: number,
): Promise<boolean> {
  const rows = await sql`
    update test_clocks set time_reached = ${timeReached}, processed_to = ${processedTo},
      updated_at = ${realNow}, leased_until = ${leaseEnd(sql, leaseMs)}
    where provider_id = ${providerId} and reference = ${reference}
      and status = 'advancing' and lease_token = ${leaseToken}
    returning 1`
  return rows.length > 0
}

/** Extends the lease during a long piece of work. */
export async function renewClockLease(
  sql: Queryable,
  { providerId, reference, leaseToken }: AdvancingClock,
  leaseMs: number,
): Promise<void> {
  await sql`
    update test_clocks set leased_until = ${leaseEnd(sql, leaseMs)}
    where provider_id = ${providerId} and reference = ${reference} and lease_token = ${leaseToken}`
}

/** Gives a clock back, so that another runner continues at once. */
export async function releaseClock(
  sql: Queryable,
  { providerId, reference, leaseToken }: AdvancingClock,
): Promise<void> {
  await sql`
    update test_clocks set lease_token = null, leased_until = null
    where provider_id = ${providerId} and reference = ${reference} and lease_token = ${leaseToken}`
}

/** Ends the advance: the clock has arrived, or `failure` says what could not be done. Returns false like `moveClock`. */
export async function endAdvance(
  sql: Queryable,
  { providerId, reference, leaseToken }: AdvancingClock,
  failure: string | null,
  realNow: Date,
): Promise<boolean> {
  const rows = await sql`
    update test_clocks set status = ${failure === null ? 'ready' : 'failed'}, failure = ${failure},
      updated_at = ${realNow}, lease_token = null, leased_until = null
    where provider_id = ${providerId} and reference = ${reference}
      and status = 'advancing' and lease_token = ${leaseToken}
    returning 1`
  return rows.length > 0
}
