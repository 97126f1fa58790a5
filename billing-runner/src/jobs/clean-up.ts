import { sweepRuns } from '@tollgate/domain/calendar/runs'
import { sweepSlots } from '@tollgate/domain/calendar/slots'
import { sweepAccessTokens } from '@tollgate/domain/console/access-tokens'
import { sweepHolds } from '@tollgate/domain/coupons/redeem-coupon'
import { sweepAttempts } from '@tollgate/domain/console/attempts'
import { sweepKnownBrowsers } from '@tollgate/domain/console/known-browsers'
import { sweepCliSessions } from '@tollgate/domain/console/cli-sessions'
import { sweepReconciliations } from '@tollgate/domain/reconciliation/reports-repository'
import { sweepCustomerSessions } from '@tollgate/domain/sessions/customer-sessions'
import type { Queryable } from '@tollgate/platform/database/database'
import type { SweepJob } from './job.ts'

export type KeptTimes = {
  /**
   * How long a session is kept after it has expired, in milliseconds, so that a request for it gets the answer that it has expired.
   */
  readonly sessionsMs: number
  /** How long results of jobs are kept, in milliseconds. */
  readonly runsMs: number
}

/** Maximum rows that one statement deletes, so that other transactions never wait long for its locks. */
const rowsMax = 1_000

/** How long expired sessions of the command line are kept, so that its requests get the answer that the session has expired. */
const cliSessionsMs = 3_600_000

/**
 * Creates the job that deletes old sessions, leftovers of console sign-ins, records of runs, reconciliation reports and holds of
 * coupons.
 */
export function createCleanUp(kept: KeptTimes): SweepJob {
  return {
    kind: 'sweep',
    name: 'clean-up',
    spaces: ['sandbox', 'live', 'control'],
    sweep: async (pool, space, now) => {
      const before = (ms: number): Date => new Date(now.getTime() - ms)
      const runs = await sweepSlots(pool, before(kept.runsMs), rowsMax)
      const others =
        space === 'control'
          ? await sweepConsole(pool, now, before(cliSessionsMs))
          : [
              await sweepRuns(pool, before(kept.runsMs), rowsMax),
              await sweepReconciliations(pool, before(kept.runsMs), rowsMax),
              await sweepCustomerSessions(pool, before(kept.sessionsMs), rowsMax),
              await sweepHolds(pool, rowsMax),
            ]
      return [runs, ...others].some((rows) => rows >= rowsMax)
    },
  }
}

async function sweepConsole(control: Queryable, now: Date, cliBefore: Date): Promise<number[]> {
  return [
    await sweepAccessTokens(control, now, rowsMax),
    await sweepAttempts(control, now, rowsMax),
    await sweepKnownBrowsers(control, now, rowsMax),
    await sweepCliSessions(control, cliBefore, rowsMax),
  ]
}
