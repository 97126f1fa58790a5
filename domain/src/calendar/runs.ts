import type { Queryable } from '@tollgate/platform/database/database'
import type { Slot } from './slots.ts'

/** Results of one batch for one provider. */
export type BatchCounts = {
  readonly providerId: string
  readonly done: number
  readonly postponed: number
  readonly failed: number
  /** Reason of the last failure. */
  readonly failure: string | null
}

/** Results of a job for one provider in one slot. */
export type BillingRun = Omit<BatchCounts, 'providerId'> & {
  readonly job: string
  readonly slot: Date
  readonly startedAt: Date
  /** When the last batch so far ended. */
  readonly endedAt: Date
}

type BillingRunRow = {
  job: string
  slot: Date
  started_at: Date
  ended_at: Date
  done: bigint
  postponed: bigint
  failed: bigint
  failure: string | null
}

/** Adds a batch to the runs of its providers in the slot. */
export async function countBatch(
  sql: Queryable,
  { job, at }: Slot,
  startedAt: Date,
  endedAt: Date,
  batch: readonly BatchCounts[],
): Promise<void> {
  if (batch.length === 0) return
  const rows = batch.map(({ providerId, ...counts }) => ({
    provider_id: providerId,
    job,
    slot: at,
    started_at: startedAt,
    ended_at: endedAt,
    ...counts,
  }))
  await sql`
    insert into billing_runs ${sql(rows)}
    on conflict (provider_id, job, slot) do update set
      ended_at = greatest(billing_runs.ended_at, excluded.ended_at),
      done = billing_runs.done + excluded.done,
      postponed = billing_runs.postponed + excluded.postponed,
      failed = billing_runs.failed + excluded.failed,
      failure = coalesce(excluded.failure, billing_runs.failure)`
}

/** Returns the runs, newest first. */
export async function listRuns(
  sql: Queryable,
  providerId: string,
  {
    job,
    rowsMax,
    offset,
  }: { readonly job: string | undefined; readonly rowsMax: number; readonly offset: number },
): Promise<BillingRun[]> {
  const rows = await sql<BillingRunRow[]>`
    select * from billing_runs where ${ofJob(sql, providerId, job)}
    order by slot desc, job limit ${rowsMax} offset ${offset}`
  return rows.map(fromRow)
}

export async function countRuns(
  sql: Queryable,
  providerId: string,
  job: string | undefined,
): Promise<number> {
  const [row] = await sql<{ total: number }[]>`
    select count(*)::int as total from billing_runs where ${ofJob(sql, providerId, job)}`
  return row!.total
}

/** Deletes at most `rowsMax` runs of slots before `before`. Returns how many were deleted. */
export async function sweepRuns(sql: Queryable, before: Date, rowsMax: number): Promise<number> {
  const rows = await sql`
    delete from billing_runs where (provider_id, job, slot) in (
      select provider_id, job, slot from billing_runs where slot < ${before} limit ${rowsMax})`
  return rows.count
}

function ofJob(sql: Queryable, providerId: string, job: string | undefined) {
  return sql`provider_id = ${providerId} ${job === undefined ? sql`` : sql`and job = ${job}`}`
}

function fromRow(row: BillingRunRow): BillingRun {
  return {
    job: row.job,
    slot: row.slot,
    startedAt: row.started_at,
    endedAt: row.ended_at,
    done: Number(row.done),
    postponed: Number(row.postponed),
    failed: Number(row.failed),
    failure: row.failure,
  }
}
