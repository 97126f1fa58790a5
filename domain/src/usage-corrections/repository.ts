import { randomUUID } from 'node:crypto'
import type { Sql, TransactionSql } from 'postgres'
import type { Queryable } from '@tollgate/platform/database/database'
import type { CorrectionAction, CorrectionStatus } from '@tollgate/schemas/http/usage-corrections'
import { jsonb } from '../postgres/jsonb.ts'
import type {
  CorrectedUsage,
  CorrectionCursor,
  CorrectionSelection,
  NewCorrection,
  ReadTo,
  UsageCorrection,
} from './correction.ts'

type Row = {
  reference: string
  idempotency_key: string | null
  selection: CorrectionSelection
  action: CorrectionAction
  value_micros: string | null
  reason: string
  author: string
  status: CorrectionStatus
  read_to: ReadTo | null
  cursor_ms: string | null
  cursor_id: string | null
  records_corrected: string
  records_skipped: string
  failure: string | null
  created_at: Date
  applied_at: Date | null
}

/**
 * Keeps other transactions from storing corrections of the provider until this one ends. Without it, a correction could be applied while
 * one with an earlier place in the order is not visible yet, and both would take the same usage away.
 */
export async function lockCorrections(sql: TransactionSql, providerId: string): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtextextended(${`usage corrections ${providerId}`}, 0))`
}

/** Inserts a correction. Breaks a unique constraint if its idempotency key was used. */
export async function insertCorrection(
  sql: Queryable,
  providerId: string,
  correction: NewCorrection & { readonly reference: string; readonly createdAt: Date },
  inputSha256: string,
): Promise<void> {
  const { reference, idempotencyKey, selection, action, valueMicros, reason, author } = correction
  await sql`
    insert into usage_corrections (provider_id, reference, idempotency_key, input_sha256, selection, action,
      value_micros, reason, author, status, created_at)
    values (${providerId}, ${reference}, ${idempotencyKey}, ${inputSha256}, ${jsonb(sql, selection)},
      ${action}, ${valueMicros?.toString() ?? null}, ${reason}, ${author}, 'requested',
      ${correction.createdAt})`
}

export async function findCorrection(
  sql: Queryable,
  providerId: string,
  reference: string,
): Promise<UsageCorrection | undefined> {
  const [row] = await sql<Row[]>`
    select * from usage_corrections where provider_id = ${providerId} and reference = ${reference}`
  return row && fromRow(row)
}

export async function findCorrectionByKey(
  sql: Queryable,
  providerId: string,
  idempotencyKey: string,
): Promise<{ readonly reference: string; readonly inputSha256: string } | undefined> {
  const [row] = await sql<{ reference: string; input_sha256: string }[]>`
    select reference, input_sha256 from usage_corrections
    where provider_id = ${providerId} and idempotency_key = ${idempotencyKey}`
  return row && { reference: row.reference, inputSha256: row.input_sha256 }
}

/** Returns whether one of the corrections is not applied yet. */
export async function hasUnapplied(
  sql: Queryable,
  providerId: string,
  references: readonly string[],
): Promise<boolean> {
  const rows = await sql`
    select 1 from usage_corrections
    where provider_id = ${providerId} and reference = any(${[...references]})
      and status <> 'applied' limit 1`
  return rows.length > 0
}

/** Returns a page of corrections, newest first, and the number of all. */
export async function listCorrections(
  sql: Queryable,
  providerId: string,
  { limit, offset }: { readonly limit: number; readonly offset: number },
): Promise<{ readonly corrections: UsageCorrection[]; readonly total: number }> {
  const [rows, [counted]] = await Promise.all([
    sql<Row[]>`
      select * from usage_corrections where provider_id = ${providerId}
      order by sequence desc limit ${limit} offset ${offset}`,
    sql<[{ total: number }]>`
      select count(*)::int as total from usage_corrections where provider_id = ${providerId}`,
  ])
  return { corrections: rows.map(fromRow), total: counted.total }
}

/** Returns the largest changes of a correction. */
export async function listChanges(
  sql: Queryable,
  providerId: string,
  reference: string,
  rowsMax: number,
): Promise<CorrectedUsage[]> {
  type ChangeRow = {
    customer_ref: string
    product_ref: string
    meter_name: string
    records: string
    micros: string
    returned_micros: string
  }
  const rows = await sql<ChangeRow[]>`
    select * from usage_correction_changes
    where provider_id = ${providerId} and correction_ref = ${reference}
    order by abs(micros) desc, customer_ref, product_ref, meter_name limit ${rowsMax}`
  return rows.map((row) => ({
    customerRef: row.customer_ref,
    productRef: row.product_ref,
    meterName: row.meter_name,
    records: Number(row.records),
    micros: BigInt(row.micros),
    returnedMicros: BigInt(row.returned_micros),
  }))
}

/** A correction that this process has claimed until its lease ends. If the process dies, another process claims it after that. */
export type ClaimedCorrection = {
  readonly providerId: string
  readonly correction: UsageCorrection
  readonly leaseToken: string
}

/**
 * Claims the oldest unfinished correction of each provider, unless another process has claimed one of its corrections. Later corrections
 * of a provider wait, because they work from what earlier corrections leave of their records. They do not wait for a correction that has
 * failed: it is tried again when it is due and no other correction of the provider waits. `providerId` limits the search to one provider.
 *
 * At most one correction of a provider is being applied. Two of them would wait for each other for ever after a crash.
 */
export async function claimCorrections(
  pool: Sql,
  limits: {
    readonly rowsMax: number
    readonly leaseMs: number
    readonly providerId?: string | undefined
  },
): Promise<ClaimedCorrection[]> {
  const { rowsMax, leaseMs, providerId } = limits
  const leaseToken = randomUUID()
  const rows = await pool.begin(async (sql) => {
    // Without the lock, two processes could claim a failed and a new correction of the provider at the same time.
    await sql`select pg_advisory_xact_lock(hashtextextended('claims of usage corrections', 0))`
    // `statement_timestamp` is the same for all rows, so of two failed corrections exactly one is first.
    return sql<(Row & { provider_id: string })[]>`
    update usage_corrections as claimed
    set lease_token = ${leaseToken}, leased_until = clock_timestamp() + ${leaseMs} * interval '1 millisecond',
      status = 'applying', retry_at = null
    from (
      select provider_id, reference from usage_corrections as waiting
      where status <> 'applied' and (leased_until is null or leased_until < clock_timestamp())
        ${providerId === undefined ? sql`` : sql`and provider_id = ${providerId}`}
        and (retry_at is null or retry_at <= statement_timestamp())
        and not exists (
          select from usage_corrections as other
          where other.provider_id = waiting.provider_id and other.reference <> waiting.reference
            and other.status <> 'applied'
            and (other.retry_at is null or other.retry_at <= statement_timestamp())
            and (other.status = 'applying' or (other.status = 'failed', other.sequence)
              < (waiting.status = 'failed', waiting.sequence)))
      order by sequence limit ${rowsMax} for update skip locked) as next
    where claimed.provider_id = next.provider_id and claimed.reference = next.reference
    returning claimed.*`
  })
  return rows.map((row) => ({ providerId: row.provider_id, correction: fromRow(row), leaseToken }))
}

/** Ends a lease before its time, so that any process can continue. */
export async function releaseCorrection(
  sql: Queryable,
  { providerId, correction, leaseToken }: ClaimedCorrection,
): Promise<void> {
  await sql`
    update usage_corrections set lease_token = null, leased_until = null
    where provider_id = ${providerId} and reference = ${correction.reference}
      and lease_token = ${leaseToken}`
}

/** How often a correction is tried, and when again after that. */
export type CorrectionTries = {
  /** Tries in a row after which a correction has failed. */
  readonly triesMax: number
  /** Milliseconds until a failed correction is tried again. */
  readonly retryAfterMs: number
}

/**
 * Stores an unexpected error of a try. After `triesMax` such errors in a row the correction has failed, and later corrections of the
 * provider no longer wait for it.
 */
export async function noteFailure(
  sql: Queryable,
  { providerId, correction, leaseToken }: ClaimedCorrection,
  failure: string,
  { triesMax, retryAfterMs }: CorrectionTries,
): Promise<void> {
  const hasFailed = sql`failures + 1 >= ${triesMax}`
  await sql`
    update usage_corrections set failures = failures + 1, failure = ${failure},
      status = case when ${hasFailed} then 'failed' else status end,
      retry_at = case when ${hasFailed} then clock_timestamp() + ${retryAfterMs} * interval '1 millisecond' end
    where provider_id = ${providerId} and reference = ${correction.reference}
      and lease_token = ${leaseToken} and status = 'applying'`
}

/** The progress of a correction by one page. */
export type CorrectionProgress = {
  readonly readTo: ReadTo
  /** Undefined if the page had no record. */
  readonly cursor: CorrectionCursor | undefined
  readonly corrected: number
  readonly skipped: number
  /** Set after the last page. */
  readonly appliedAt: Date | null
  readonly leaseMs: number
}

/** Stores the progress of a page. Returns false and stores nothing if another process has claimed the correction since. */
export async function storeProgress(
  sql: TransactionSql,
  { providerId, correction, leaseToken }: ClaimedCorrection,
  { readTo, cursor, corrected, skipped, appliedAt, leaseMs }: CorrectionProgress,
): Promise<boolean> {
  const isDone = appliedAt !== null
  const stored = await sql`
    update usage_corrections
    set read_to = ${jsonb(sql, readTo)}, records_corrected = records_corrected + ${corrected},
      records_skipped = records_skipped + ${skipped},
      cursor_ms = coalesce(${cursor?.ms ?? null}::bigint, cursor_ms),
      cursor_id = coalesce(${cursor?.id ?? null}::text, cursor_id),
      failures = 0, failure = null, status = ${isDone ? 'applied' : 'applying'}, applied_at = ${appliedAt},
      lease_token = ${isDone ? null : leaseToken},
      leased_until = ${isDone ? null : sql`clock_timestamp() + ${leaseMs} * interval '1 millisecond'`}
    where provider_id = ${providerId} and reference = ${correction.reference}
      and lease_token = ${leaseToken} and status = 'applying'`
  return stored.count > 0
}

/** Adds the changes of a page to those of the correction. */
export async function addChanges(
  sql: TransactionSql,
  providerId: string,
  reference: string,
  changes: readonly CorrectedUsage[],
): Promise<void> {
  if (changes.length === 0) return
  await sql`
    insert into usage_correction_changes as kept (provider_id, correction_ref, customer_ref, product_ref,
      meter_name, records, micros, returned_micros)
    select ${providerId}, ${reference}, * from unnest(
      ${changes.map((each) => each.customerRef)}::text[],
      ${changes.map((each) => each.productRef)}::text[],
      ${changes.map((each) => each.meterName)}::text[],
      ${changes.map((each) => each.records)}::bigint[],
      ${changes.map((each) => each.micros.toString())}::numeric[],
      ${changes.map((each) => each.returnedMicros.toString())}::numeric[])
    on conflict (provider_id, correction_ref, customer_ref, product_ref, meter_name) do update set
      records = kept.records + excluded.records, micros = kept.micros + excluded.micros,
      returned_micros = kept.returned_micros + excluded.returned_micros`
}

function fromRow(row: Row): UsageCorrection {
  return {
    reference: row.reference,
    idempotencyKey: row.idempotency_key,
    selection: row.selection,
    action: row.action,
    valueMicros: row.value_micros === null ? undefined : BigInt(row.value_micros),
    reason: row.reason,
    author: row.author,
    status: row.status,
    readTo: row.read_to ?? undefined,
    cursor:
      row.cursor_ms === null || row.cursor_id === null
        ? undefined
        : { ms: Number(row.cursor_ms), id: row.cursor_id },
    recordsCorrected: Number(row.records_corrected),
    recordsSkipped: Number(row.records_skipped),
    failure: row.failure ?? undefined,
    createdAt: row.created_at,
    appliedAt: row.applied_at,
  }
}
