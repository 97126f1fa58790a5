import { setTimeout as sleep } from 'node:timers/promises'
import type { Queryable } from '@tollgate/platform/database/database'

const settlePolls = 10
const settlePollMs = 50

/** Whether all transactions that are under way when this is called have ended, within half a second. */
export async function areTransactionsOver(sql: Queryable): Promise<boolean> {
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
