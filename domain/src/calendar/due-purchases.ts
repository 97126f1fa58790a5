import type { SelectDue } from './claims.ts'

/*
 * Which purchases a job has to look at. The condition finds them by an index and may find some that turn out to be not
 * due; whether one is, is decided about the purchase itself, under its lock.
 */

/** Trials and periods whose end is no further away than that, and that nobody was told of yet. */
export function selectRemindable(aheadMs: number): SelectDue {
  return (sql, now) => sql`
    select provider_id, reference as item, next_billing_date as due_at from purchases
    where next_billing_date > ${now}
      and next_billing_date <= ${new Date(now.getTime() + aheadMs)}
      and status in ('active', 'trialing')
      and (status = 'active' and auto_renew or status = 'trialing' and cancelled_at is null)
      and reminded_of is distinct from next_billing_date`
}

export const selectEndedTrials: SelectDue = (sql, now) => sql`
  select provider_id, reference as item, next_billing_date as due_at from purchases
  where next_billing_date <= ${now} and status = 'trialing' and cancelled_at is null`

export const selectDueRenewals: SelectDue = (sql, now) => sql`
  select provider_id, reference as item, next_billing_date as due_at from purchases
  where next_billing_date <= ${now} and status = 'active' and auto_renew`

/** Those with a period that has begun, and those of whose period before nothing can come any more. */
export const selectDueResets: SelectDue = (sql, now) => sql`
  select provider_id, reference as item, least(next_reset_at, carry_settles_at) as due_at
  from purchases
  where (next_reset_at <= ${now} and status in ('active', 'trialing', 'past_due'))
    or carry_settles_at <= ${now}`

/** Those whose end has passed and whose status does not say so. */
export const selectLapsed: SelectDue = (sql, now) => sql`
  select provider_id, reference as item, end_date as due_at from purchases
  where end_date <= ${now} and status in ('active', 'trialing', 'past_due')`

/**
 * Purchases with a period of usage that is over and not billed, or with usage that came late and is billed no more after it;
 * and those whose usage is billed and whose price, which is charged after it, is not.
 */
export function selectUsageToBill(graceMs: number): SelectDue {
  return (sql, now) => sql`
    select provider_id, reference as item, least(next_usage_bill_at, ended_at) as due_at
    from purchases
    where least(next_usage_bill_at, ended_at) <= ${new Date(now.getTime() - graceMs)}
      and next_usage_bill_at is not null and status not in ('pending', 'trialing', 'refunded')
    union all
    select provider_id, reference as item, usage_closes_at as due_at from purchases
    where usage_closes_at <= ${now} and status <> 'refunded'
    union all
    select provider_id, reference as item, next_billing_date as due_at from purchases
    where next_billing_date <= ${now} and status = 'active' and auto_renew
      and plan_snapshot->>'type' = 'hybrid'
      and plan_snapshot->'terms'->>'billingStrategy' = 'usage_first'
      and next_usage_bill_at > next_billing_date
      and least(next_usage_bill_at, ended_at) > ${new Date(now.getTime() - graceMs)}`
}
