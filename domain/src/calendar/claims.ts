import type { Fragment, TransactionSql } from 'postgres'
import type { Queryable } from '@tollgate/platform/database/database'
import { leaseEnd } from '../postgres/milliseconds.ts'
import { selectCustomersOfClocks } from '../test-clocks/customer-time.ts'
import type { SelectDue } from './due-items.ts'
import { endSlot, lockSlot, type Slot } from './slots.ts'

/** Something of a provider that a job must process, such as a purchase or a session. */
export type DueItem = { readonly providerId: string; readonly item: string }

export type ClaimLimits = {
  readonly itemsMax: number
  /** Milliseconds after which a runner that does not renew its claim counts as dead, and another runner takes over. */
  readonly leaseMs: number
  /** Largest number of attempts for an item in one slot. */
  readonly triesMax: number
}

export type Claimed =
  | { readonly kind: 'claimed'; readonly items: readonly DueItem[] }
  /** Other runners are at work, or a failed item waits for its next attempt. */
  | { readonly kind: 'waiting' }
  | { readonly kind: 'ended' }

/**
 * Claims the unclaimed items that have been due for the longest time. Ends the slot if no items are due and none are
 * being processed. A claim locks the slot's row, so two runners never claim the same item, and a slot cannot end during
 * a claim. Items of customers on a test clock are never claimed: they are due by the time of their clock.
 */
export async function claimDue(
  sql: TransactionSql,
  slot: Slot,
  selectDue: SelectDue,
  { itemsMax, leaseMs, triesMax }: ClaimLimits,
  now: Date,
): Promise<Claimed> {
  if (!(await lockSlot(sql, slot))) return { kind: 'ended' }
  const { job, at } = slot
  // All statements use the time of the transaction. A claim that expires between two statements would otherwise be
  // neither taken over nor waited for.
  const rows = await sql<{ provider_id: string; item: string }[]>`
    insert into job_claims (provider_id, job, item, slot, claimed_until)
    select due.provider_id, ${job}, due.item, ${at}, ${leaseEnd(sql, leaseMs)}
    from (${selectDueInRealTime(sql, selectDue, now)}) as due
    left join job_claims as held
      on held.provider_id = due.provider_id and held.job = ${job} and held.item = due.item
    where held.item is null or (
      held.claimed_until <= now()
      and (held.slot <> ${at} or (not held.is_left and held.failures < ${triesMax})))
    order by due.due_at
    limit ${itemsMax}
    on conflict (provider_id, job, item) do update set
      slot = excluded.slot, claimed_until = excluded.claimed_until, is_left = false,
      failures = case when job_claims.slot = excluded.slot then job_claims.failures else 0 end
    returning provider_id, item`
  if (rows.length > 0) {
    return {
      kind: 'claimed',
      items: rows.map((row) => ({ providerId: row.provider_id, item: row.item })),
    }
  }
  // Expired claims do not keep the slot open: they belong to items that are no longer due, and no runner processes
  // them.
  const inProgress = await sql`
    select 1 from job_claims
    where job = ${job} and slot = ${at} and claimed_until > now()
      and not is_left and failures < ${triesMax}
    limit 1`
  if (inProgress.length > 0) return { kind: 'waiting' }
  await endSlot(sql, slot, now)
  await sql`
    delete from job_claims
    where job = ${job} and slot <= ${at} and claimed_until <= now()`
  return { kind: 'ended' }
}

/** Removes the claims of processed items. Leaves the items in `left` to the next slot. */
export async function finishClaims(
  sql: Queryable,
  job: string,
  processed: readonly DueItem[],
  postponed: readonly DueItem[],
): Promise<void> {
  if (processed.length > 0) {
    await sql`
      delete from job_claims where job = ${job} and (provider_id, item) in (${namesOf(sql, processed)})`
  }
  if (postponed.length > 0) {
    await sql`
      update job_claims set is_left = true, claimed_until = clock_timestamp()
      where job = ${job} and (provider_id, item) in (${namesOf(sql, postponed)})`
  }
}

/** Extends the lease of a claim. */
export async function renewClaim(
  sql: Queryable,
  job: string,
  { providerId, item }: DueItem,
  leaseMs: number,
): Promise<void> {
  await sql`
    update job_claims set claimed_until = ${leaseEnd(sql, leaseMs)}
    where provider_id = ${providerId} and job = ${job} and item = ${item}`
}

/**
 * Records a failed attempt. The next attempt follows after the pause. After the last attempt, the item is left to the
 * next slot. Returns the number of failed attempts in this slot.
 */
export async function failClaim(
  sql: Queryable,
  job: string,
  { providerId, item }: DueItem,
  { pauseMs, triesMax }: { readonly pauseMs: number; readonly triesMax: number },
): Promise<number> {
  const [row] = await sql<{ failures: number }[]>`
    update job_claims set failures = failures + 1,
      claimed_until = case when failures + 1 < ${triesMax} then ${leaseEnd(sql, pauseMs)}
        else clock_timestamp() end
    where provider_id = ${providerId} and job = ${job} and item = ${item}
    returning failures`
  return row?.failures ?? 0
}

function namesOf(sql: Queryable, items: readonly DueItem[]): Fragment {
  return sql`
    select * from unnest(
      ${items.map(({ providerId }) => providerId)}::text[],
      ${items.map(({ item }) => item)}::text[])`
}

/** Returns how many items are due, and the items that have been due for the longest time. For people. */
export async function listDue(
  sql: Queryable,
  selectDue: SelectDue,
  now: Date,
  itemsMax: number,
): Promise<{ readonly total: number; readonly items: readonly DueItem[] }> {
  const [counted] = await sql<{ total: number }[]>`
    select count(*)::int as total from (${selectDueInRealTime(sql, selectDue, now)}) as due`
  return { total: counted!.total, items: await listDueItems(sql, selectDue, now, itemsMax) }
}

/** Returns the items that have been due for the longest time. */
export async function listDueItems(
  sql: Queryable,
  selectDue: SelectDue,
  now: Date,
  itemsMax: number,
): Promise<DueItem[]> {
  const rows = await sql<{ provider_id: string; item: string }[]>`
    select provider_id, item from (${selectDueInRealTime(sql, selectDue, now)}) as due
    order by due_at, item limit ${itemsMax}`
  return rows.map((row) => ({ providerId: row.provider_id, item: row.item }))
}

function selectDueInRealTime(sql: Queryable, selectDue: SelectDue, now: Date): Fragment {
  return sql`
    select * from (${selectDue(sql, now)}) as every
    where not exists (
      select from (${selectCustomersOfClocks(sql)}) as clocked
      where clocked.provider_id = every.provider_id and clocked.reference = every.customer_ref)`
}
