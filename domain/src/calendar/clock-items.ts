import type { Queryable } from '@tollgate/platform/database/database'
import { selectCustomersOfClock } from '../test-clocks/customer-time.ts'
import type { DueItem } from './claims.ts'
import type { DueItems, SelectDue } from './due-items.ts'

/** Names a test clock of any provider. */
export type ClockName = { readonly providerId: string; readonly reference: string }

/** When the items of one job are due on a clock. */
export type JobInstants = {
  /** Whether an item was due already when the clock had processed everything up to its last instant. */
  readonly isOverdue: boolean
  /** The first later instant at which an item is due. Undefined if there is none until the end of the advance. */
  readonly next: Date | undefined
}

/** Reads when the items of each job are due on the clock, after `processedTo` and until `until`, by the name of the job. */
export async function readJobInstants(
  sql: Queryable,
  clock: ClockName,
  jobs: readonly { readonly name: string; readonly due: DueItems }[],
  { processedTo, until }: { readonly processedTo: Date; readonly until: Date },
): Promise<Map<string, JobInstants>> {
  const parts = jobs.map(
    ({ name, due }) => sql`
      select ${name} as job, bool_or(at <= ${processedTo}) as is_overdue,
        min(at) filter (where at > ${processedTo}) as next_at
      from (${due.selectInstants(sql, selectCustomersOfClock(sql, clock))}) as instant
      where at <= ${until}`,
  )
  const rows = await sql<{ job: string; is_overdue: boolean | null; next_at: Date | null }[]>`
    ${parts.reduce((before, part) => sql`${before} union all ${part}`)}`
  return new Map(
    rows.map((row) => [
      row.job,
      { isOverdue: row.is_overdue === true, next: row.next_at ?? undefined },
    ]),
  )
}

/** An item with the own reference of its customer. */
export type CustomerItem = DueItem & { readonly customerRef: string }

/** Returns the items of the clock's customers that a job must check at `now`, the time of the clock. The longest due come first. */
export async function listDueOfClock(
  sql: Queryable,
  clock: ClockName,
  selectDue: SelectDue,
  now: Date,
): Promise<CustomerItem[]> {
  const rows = await sql<{ provider_id: string; customer_ref: string; item: string }[]>`
    select provider_id, customer_ref, item from (${selectDue(sql, now)}) as due
    where (provider_id, customer_ref) in (${selectCustomersOfClock(sql, clock)})
    order by due_at, item`
  return rows.map((row) => ({
    providerId: row.provider_id,
    customerRef: row.customer_ref,
    item: row.item,
  }))
}
