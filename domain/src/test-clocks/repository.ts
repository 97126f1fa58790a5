import type { TransactionSql } from 'postgres'
import type { Queryable } from '@tollgate/platform/database/database'
import { testClockSpareMs } from '@tollgate/schemas/limits'
import type { TestClock, TestClockStatus } from './test-clock.ts'

export type TestClockRow = {
  reference: string
  name: string | null
  status: TestClockStatus
  time_reached: Date
  processed_to: Date
  advance_from: Date | null
  advance_to: Date | null
  failure: string | null
  is_deleting: boolean
  created_at: Date
  updated_at: Date
  expires_at: Date
}

export async function insertTestClock(
  sql: Queryable,
  providerId: string,
  clock: TestClock,
): Promise<void> {
  await sql`
    insert into test_clocks
      (provider_id, reference, name, status, time_reached, processed_to, created_at, updated_at, expires_at)
    values (${providerId}, ${clock.reference}, ${clock.name}, ${clock.status}, ${clock.timeReached},
      ${clock.processedTo}, ${clock.createdAt}, ${clock.updatedAt}, ${clock.expiresAt})`
}

export async function findTestClock(
  sql: Queryable,
  providerId: string,
  reference: string,
): Promise<TestClock | undefined> {
  const [row] = await sql<TestClockRow[]>`
    select * from test_clocks
    where provider_id = ${providerId} and reference = ${reference} and status <> 'deleted'`
  return row === undefined ? undefined : testClockFromRow(row)
}

/** Locks the clock. All changes of its state start with this lock, those of the runner that advances it included. */
export async function lockTestClock(
  sql: Queryable,
  providerId: string,
  reference: string,
): Promise<TestClock | undefined> {
  const [row] = await sql<TestClockRow[]>`
    select * from test_clocks
    where provider_id = ${providerId} and reference = ${reference} and status <> 'deleted'
    for update`
  return row === undefined ? undefined : testClockFromRow(row)
}

/** Keeps other transactions from creating a clock of the provider until this one ends. Returns the number of clocks. */
export async function lockAndCountTestClocks(
  sql: TransactionSql,
  providerId: string,
): Promise<number> {
  await sql`select pg_advisory_xact_lock(hashtextextended(${`test clocks ${providerId}`}, 0))`
  return (await listTestClocks(sql, providerId)).length
}

/** Returns the clocks of the provider, newest first. There are at most `testClocksMax`. */
export async function listTestClocks(sql: Queryable, providerId: string): Promise<TestClock[]> {
  const rows = await sql<TestClockRow[]>`
    select * from test_clocks where provider_id = ${providerId} and status <> 'deleted'
    order by created_at desc, reference`
  return rows.map(testClockFromRow)
}

type ClockState = Pick<
  TestClock,
  'reference' | 'status' | 'advanceFrom' | 'advanceTo' | 'failure' | 'isDeleting' | 'updatedAt'
>

/** Stores the state of a clock. Ends the lease of its runner unless the clock is still advancing. */
export async function updateTestClock(
  sql: Queryable,
  providerId: string,
  { reference, status, advanceFrom, advanceTo, failure, isDeleting, updatedAt }: ClockState,
): Promise<void> {
  await sql`
    update test_clocks set status = ${status}, advance_from = ${advanceFrom}, advance_to = ${advanceTo},
      failure = ${failure}, is_deleting = ${isDeleting}, updated_at = ${updatedAt},
      lease_token = case when ${status} = 'advancing' then lease_token end,
      leased_until = case when ${status} = 'advancing' then leased_until end
    where provider_id = ${providerId} and reference = ${reference}`
}

/** Returns the own references of the clock's customers who are not deleted, oldest first. */
export async function listCustomersOfClock(
  sql: Queryable,
  providerId: string,
  clockRef: string,
): Promise<string[]> {
  const rows = await sql<{ reference: string }[]>`
    select reference from customers
    where provider_id = ${providerId} and test_clock_ref = ${clockRef} and status = 'active'
    order by created_at, reference`
  return rows.map(({ reference }) => reference)
}

/** Returns clocks of all providers that are to be deleted: see `deletionOf`. */
export async function listExpiredClocks(
  sql: Queryable,
  now: Date,
  rowsMax: number,
): Promise<{ providerId: string; reference: string }[]> {
  const rows = await sql<{ provider_id: string; reference: string }[]>`
    select provider_id, reference from test_clocks
    where status <> 'deleted'
      and (expires_at <= ${now} or time_reached <= ${new Date(now.getTime() + testClockSpareMs)})
    order by expires_at limit ${rowsMax}`
  return rows.map((row) => ({ providerId: row.provider_id, reference: row.reference }))
}

export function testClockFromRow(row: TestClockRow): TestClock {
  return {
    reference: row.reference,
    name: row.name,
    status: row.status,
    timeReached: row.time_reached,
    processedTo: row.processed_to,
    advanceFrom: row.advance_from,
    advanceTo: row.advance_to,
    failure: row.failure,
    isDeleting: row.is_deleting,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
    expiresAt: row.expires_at,
  }
}
