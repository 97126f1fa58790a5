import type { Queryable } from '@tollgate/platform/database/database'

/** One run of a job: at a scheduled time, or on request. */
export type Slot = { readonly job: string; readonly at: Date; readonly isByHand: boolean }

type SlotKey = Pick<Slot, 'job' | 'at'>

/** Creates the slot if it does not exist. Returns false if the slot has ended already. */
export async function openSlot(
  sql: Queryable,
  { job, at, isByHand }: Slot,
  now: Date,
): Promise<boolean> {
  await sql`
    insert into job_slots (job, slot, is_by_hand, started_at)
    values (${job}, ${at}, ${isByHand}, ${now})
    on conflict do nothing`
  const rows = await sql`
    select 1 from job_slots where job = ${job} and slot = ${at} and ended_at is null`
  return rows.length > 0
}

/** Locks the slot, so that runners that look for work in it take turns. Returns false if the slot has ended. */
export async function lockSlot(sql: Queryable, { job, at }: SlotKey): Promise<boolean> {
  const rows = await sql`
    select 1 from job_slots where job = ${job} and slot = ${at} and ended_at is null for update`
  return rows.length > 0
}

/**
 * Ends the slot. If it is a scheduled slot, also ends all earlier scheduled slots, because each slot looks for
 * everything that is due.
 */
export async function endSlot(
  sql: Queryable,
  { job, at, isByHand }: Slot,
  now: Date,
): Promise<void> {
  await sql`
    update job_slots set ended_at = ${now}
    where job = ${job} and ended_at is null
      and (slot = ${at} or (slot < ${at} and not is_by_hand and not ${isByHand}))`
}

/** Deletes at most `rowsMax` ended slots before `before`. Returns how many were deleted. */
export async function sweepSlots(sql: Queryable, before: Date, rowsMax: number): Promise<number> {
  const rows = await sql`
    delete from job_slots where (job, slot) in (
      select job, slot from job_slots where slot < ${before} and ended_at is not null limit ${rowsMax})`
  return rows.count
}
