import type { Fragment } from 'postgres'
import type { Queryable } from '@tollgate/platform/database/database'
import type {
  CreditScheduleExpiry,
  ScheduledGrantOutcome,
} from '@tollgate/schemas/http/credit-schedules'
import { selectPage, type PageRange } from '../postgres/select-page.ts'
import type { CreditSchedule } from './credit-schedule.ts'

type Row = {
  reference: string
  customer_ref: string
  purchase_ref: string | null
  credits: bigint
  every_unit: CreditSchedule['every']['unit']
  every_count: number
  time_zone: string
  counted_from: Date
  step: number
  next_at: Date | null
  ends_at: Date | null
  grants_max: number | null
  grants_due: number
  expiry: 'never' | 'next_grant' | 'days'
  expiry_days: number | null
  roll_over_max: bigint
  priority: number
  reason: string | null
  status: CreditSchedule['status']
  end_reason: CreditSchedule['endReason']
  look_at: Date | null
  created_at: Date
  updated_at: Date
}

/** Inserts a schedule. Breaks a unique constraint if its idempotency key was used. */
export async function insertSchedule(
  sql: Queryable,
  providerId: string,
  schedule: CreditSchedule,
  { idempotencyKey, inputSha256 }: { idempotencyKey: string | null; inputSha256: string },
): Promise<void> {
  const { expiry, expiryDays } = expiryColumns(schedule.expiry)
  await sql`
    insert into credit_schedules (provider_id, reference, customer_ref, purchase_ref, idempotency_key,
      input_sha256, credits, every_unit, every_count, time_zone, counted_from, step, next_at, ends_at,
      grants_max, grants_due, expiry, expiry_days, roll_over_max, priority, reason, status, end_reason,
      look_at, created_at, updated_at)
    values (${providerId}, ${schedule.reference}, ${schedule.customerRef}, ${schedule.purchaseRef},
      ${idempotencyKey}, ${inputSha256}, ${schedule.credits.toString()}, ${schedule.every.unit},
      ${schedule.every.count}, ${schedule.timeZone}, ${schedule.countedFrom}, ${schedule.step},
      ${schedule.nextAt}, ${schedule.endsAt}, ${schedule.grantsMax}, ${schedule.grantsDue}, ${expiry},
      ${expiryDays}, ${schedule.rollOverMax.toString()}, ${schedule.priority}, ${schedule.reason},
      ${schedule.status}, ${schedule.endReason}, ${schedule.lookAt}, ${schedule.createdAt},
      ${schedule.updatedAt})`
}

/** Stores every field that can change. The caller has locked the schedule. */
export async function updateSchedule(
  sql: Queryable,
  providerId: string,
  schedule: CreditSchedule,
): Promise<void> {
  const { expiry, expiryDays } = expiryColumns(schedule.expiry)
  await sql`
    update credit_schedules set credits = ${schedule.credits.toString()},
      every_unit = ${schedule.every.unit}, every_count = ${schedule.every.count},
      time_zone = ${schedule.timeZone}, counted_from = ${schedule.countedFrom}, step = ${schedule.step},
      next_at = ${schedule.nextAt}, ends_at = ${schedule.endsAt}, grants_max = ${schedule.grantsMax},
      grants_due = ${schedule.grantsDue}, expiry = ${expiry}, expiry_days = ${expiryDays},
      roll_over_max = ${schedule.rollOverMax.toString()}, priority = ${schedule.priority},
      reason = ${schedule.reason}, status = ${schedule.status}, end_reason = ${schedule.endReason},
      look_at = ${schedule.lookAt}, updated_at = ${schedule.updatedAt}
    where provider_id = ${providerId} and reference = ${schedule.reference}`
}

export function findSchedule(
  sql: Queryable,
  providerId: string,
  reference: string,
): Promise<CreditSchedule | undefined> {
  return selectOne(sql, providerId, reference, sql``)
}

/** Locks the schedule. The caller has locked the customer, if it still exists. */
export function lockSchedule(
  sql: Queryable,
  providerId: string,
  reference: string,
): Promise<CreditSchedule | undefined> {
  return selectOne(sql, providerId, reference, sql`for update`)
}

async function selectOne(
  sql: Queryable,
  providerId: string,
  reference: string,
  lock: Fragment,
): Promise<CreditSchedule | undefined> {
  const [row] = await sql<Row[]>`
    select * from credit_schedules
    where provider_id = ${providerId} and reference = ${reference} ${lock}`
  return row && fromRow(row)
}

export async function findScheduleByKey(
  sql: Queryable,
  providerId: string,
  idempotencyKey: string,
): Promise<{ readonly schedule: CreditSchedule; readonly inputSha256: string } | undefined> {
  const [row] = await sql<(Row & { input_sha256: string })[]>`
    select * from credit_schedules
    where provider_id = ${providerId} and idempotency_key = ${idempotencyKey}`
  return row && { schedule: fromRow(row), inputSha256: row.input_sha256 }
}

/** Returns a page of a customer's schedules, newest first, and the number of all. */
export async function listSchedules(
  sql: Queryable,
  providerId: string,
  customerRef: string,
  page: PageRange,
): Promise<{ readonly schedules: readonly CreditSchedule[]; readonly total: number }> {
  const matching = sql`
    from credit_schedules where provider_id = ${providerId} and customer_ref = ${customerRef}`
  const { rows, total } = await selectPage<Row>(
    sql,
    matching,
    sql`created_at desc, reference`,
    page,
  )
  return { schedules: rows.map(fromRow), total }
}

/** Returns how many schedules of the customer have not ended. */
export async function countOpenSchedules(
  sql: Queryable,
  providerId: string,
  customerRef: string,
): Promise<number> {
  const [counted] = await sql<[{ total: number }]>`
    select count(*)::int as total from credit_schedules
    where provider_id = ${providerId} and customer_ref = ${customerRef} and status <> 'ended'`
  return counted.total
}

/** Returns the next grant of the customer's active schedules. Undefined if there is none. */
export async function findNextGrant(
  sql: Queryable,
  providerId: string,
  customerRef: string,
): Promise<{ readonly credits: bigint; readonly at: Date } | undefined> {
  const [row] = await sql<{ credits: bigint; next_at: Date }[]>`
    select credits, next_at from credit_schedules
    where provider_id = ${providerId} and customer_ref = ${customerRef} and status = 'active'
      and look_at is not null
    order by next_at, reference limit 1`
  return row && { credits: row.credits, at: row.next_at }
}

/** Ends all schedules of a customer who is deleted. */
export async function endCustomerSchedules(
  sql: Queryable,
  providerId: string,
  customerRef: string,
  now: Date,
): Promise<void> {
  await sql`
    update credit_schedules set status = 'ended', end_reason = 'customer_deleted', next_at = null,
      look_at = null, reason = null, updated_at = ${now}
    where provider_id = ${providerId} and customer_ref = ${customerRef} and status <> 'ended'`
}

/** A date of a schedule that was processed. */
export type ScheduledGrant = {
  /** Counts from 1. */
  readonly number: number
  readonly dueAt: Date
  readonly outcome: ScheduledGrantOutcome
  /** The grant. Null unless it was granted. */
  readonly transactionRef: string | null
  /** Whole credits that were granted or lapsed, with those that rolled over. */
  readonly credits: bigint
  readonly rolledOver: bigint
  readonly expiresAt: Date | null
  readonly processedAt: Date
}

/** Inserts a processed date. Breaks the primary key if the date was processed. */
export async function insertScheduledGrant(
  sql: Queryable,
  providerId: string,
  scheduleRef: string,
  grant: ScheduledGrant,
): Promise<void> {
  await sql`
    insert into credit_schedule_grants (provider_id, schedule_ref, number, due_at, outcome,
      transaction_ref, credits, rolled_over, expires_at, processed_at)
    values (${providerId}, ${scheduleRef}, ${grant.number}, ${grant.dueAt}, ${grant.outcome},
      ${grant.transactionRef}, ${grant.credits.toString()}, ${grant.rolledOver.toString()},
      ${grant.expiresAt}, ${grant.processedAt})`
}

type GrantRow = {
  number: number
  due_at: Date
  outcome: ScheduledGrantOutcome
  transaction_ref: string | null
  credits: bigint
  rolled_over: bigint
  expires_at: Date | null
  processed_at: Date
}

/** Returns a page of the processed dates, newest first, and the number of all. */
export async function listScheduledGrants(
  sql: Queryable,
  providerId: string,
  scheduleRef: string,
  page: PageRange,
): Promise<{ readonly grants: readonly ScheduledGrant[]; readonly total: number }> {
  const matching = sql`
    from credit_schedule_grants where provider_id = ${providerId} and schedule_ref = ${scheduleRef}`
  const { rows, total } = await selectPage<GrantRow>(sql, matching, sql`number desc`, page)
  const grants = rows.map((row) => ({
    number: row.number,
    dueAt: row.due_at,
    outcome: row.outcome,
    transactionRef: row.transaction_ref,
    credits: row.credits,
    rolledOver: row.rolled_over,
    expiresAt: row.expires_at,
    processedAt: row.processed_at,
  }))
  return { grants, total }
}

/**
 * Returns the credits of the schedule's last date that expired unused, 10^-6. Credits that lapsed count, because the customer could not
 * use them.
 */
export async function readExpiredOfLast(
  sql: Queryable,
  providerId: string,
  { reference, grantsDue }: Pick<CreditSchedule, 'reference' | 'grantsDue'>,
): Promise<bigint> {
  const [row] = await sql<{ micros: string | null }[]>`
    select case when last.outcome = 'lapsed' then last.credits * 1000000::numeric
      else given.expired_micros end as micros
    from credit_schedule_grants as last
    left join credit_grants as given on given.provider_id = last.provider_id
      and given.transaction_ref = last.transaction_ref
    where last.provider_id = ${providerId} and last.schedule_ref = ${reference}
      and last.number = ${grantsDue}`
  return BigInt(row?.micros ?? 0)
}

/** Makes the open grants of a schedule expire now. The caller has locked the wallet. */
export async function expireScheduledGrants(
  sql: Queryable,
  providerId: string,
  scheduleRef: string,
  now: Date,
): Promise<void> {
  await sql`
    update credit_grants set expires_at = ${now}, expiry_due_at = ${now}
    where provider_id = ${providerId} and remaining_micros > 0
      and (expires_at is null or expires_at > ${now})
      and transaction_ref in (
        select transaction_ref from credit_schedule_grants
        where provider_id = ${providerId} and schedule_ref = ${scheduleRef})`
}

function expiryColumns(expiry: CreditScheduleExpiry) {
  return typeof expiry === 'string'
    ? { expiry, expiryDays: null }
    : { expiry: 'days', expiryDays: expiry.days }
}

function fromRow(row: Row): CreditSchedule {
  const { expiry, expiry_days: days } = row
  return {
    reference: row.reference,
    customerRef: row.customer_ref,
    purchaseRef: row.purchase_ref,
    credits: row.credits,
    every: { unit: row.every_unit, count: row.every_count },
    timeZone: row.time_zone,
    countedFrom: row.counted_from,
    step: row.step,
    nextAt: row.next_at,
    endsAt: row.ends_at,
    grantsMax: row.grants_max,
    grantsDue: row.grants_due,
    expiry: expiry === 'days' ? { days: days ?? 0 } : expiry,
    rollOverMax: row.roll_over_max,
    priority: row.priority,
    reason: row.reason,
    status: row.status,
    endReason: row.end_reason,
    lookAt: row.look_at,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  }
}
