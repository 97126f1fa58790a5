import { setTimeout as sleep } from 'node:timers/promises'
import type { Queryable } from '@tollgate/platform/database/database'

const settlePolls = 10
const settlePollMs = 50

/** Waits up to half a second until all transactions in progress at the call have ended. Returns whether they have. */
export async function waitForTransactions(sql: Queryable): Promise<boolean> {
  const [before] = await sql<{ xmax: string }[]>`
    select pg_snapshot_xmax(pg_current_snapshot())::text as xmax`
  for (let poll = 0; poll < settlePolls; poll += 1) {
    const [row] = await sql<{ is_over: boolean }[]>`
      select pg_snapshot_xmin(pg_current_snapshot()) >= ${before!.xmax}::xid8 as is_over`
    if (row!.is_over) return true
    await sleep(settlePollMs)
  }
  return false
}
