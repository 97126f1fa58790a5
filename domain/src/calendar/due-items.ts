import type { SelectDue } from './claims.ts'

/*
 * Select the purchases, invoices and checkouts that a job must check. The conditions use indexes and may select purchases
 * that are not due. The final decision is made on the purchase itself, under its lock.
 */

/** Selects trials and periods that end within `aheadMs` and for which no reminder was sent yet. */
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

/** Selects purchases with a period that has begun, and purchases whose previous period can no longer receive usage. */
export const selectDueResets: SelectDue = (sql, now) => sql`
  select provider_id, reference as item, least(next_reset_at, carry_settles_at) as due_at
  from purchases
  where (next_reset_at <= ${now} and status in ('active', 'trialing', 'past_due'))
    or carry_settles_at <= ${now}`

/** Selects purchases whose end has passed but whose status does not show it. */
export const selectLapsed: SelectDue = (sql, now) => sql`
  select provider_id, reference as item, end_date as due_at from purchases
  where end_date <= ${now} and status in ('active', 'trialing', 'past_due')`

/**
 * Selects purchases with a usage period that has ended and is not billed, purchases whose late usage is closed from now
 * on, and purchases whose usage is billed but whose price, which is charged after the usage, is not.
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

/**
 * Selects purchases whose unbilled usage was found to have reached the amount of their plan. While an invoice of the purchase is
 * open, they wait.
 */
export const selectThresholdsToBill: SelectDue = (sql) => sql`
  select provider_id, purchase_ref as item, noted_at as due_at from threshold_crossings as crossing
  where not exists (
    select from invoices where invoices.provider_id = crossing.provider_id
      and invoices.purchase_ref = crossing.purchase_ref and invoices.status = 'open')`

/** Selects customers and products whose packs are to be settled. */
export const selectDuePacks: SelectDue = (sql, now) => sql`
  select provider_id, customer_ref || '/' || product_ref as item, due_at from pack_accounts
  where due_at <= ${now}`

/** Selects open invoices that are due for their first or their next charge. */
export const selectDueCharges: SelectDue = (sql, now) => sql`
  select provider_id, reference as item, next_charge_at as due_at from invoices
  where next_charge_at <= ${now}`

/** Selects open invoices that are no longer charged automatically and have not changed for `quietMs`. */
export function selectUncollected(quietMs: number): SelectDue {
  return (sql, now) => sql`
    select provider_id, reference as item, updated_at as due_at from invoices
    where updated_at <= ${new Date(now.getTime() - quietMs)}
      and status = 'open' and next_charge_at is null and not is_held`
}

/**
 * Selects VAT numbers of the EU that the register was not asked about, and those that it is to be asked about again. Numbers that no
 * customer has any more are due then as well, to be forgotten.
 */
export const selectTaxIdsToCheck: SelectDue = (sql, now) => sql`
  select provider_id, tax_id as item, min(updated_at) as due_at from customer_tax_details as details
  where tax_id_type = 'eu_vat' and tax_id is not null and not exists (
    select from tax_id_checks as checked
    where checked.provider_id = details.provider_id and checked.tax_id = details.tax_id)
  group by provider_id, tax_id
  union all
  select provider_id, tax_id as item, next_check_at as due_at from tax_id_checks
  where next_check_at <= ${now}`

/** Selects checkouts that expired before they were completed. */
export const selectAbandonedCheckouts: SelectDue = (sql, now) => sql`
  select provider_id, session_id as item, expires_at as due_at from checkout_sessions
  where expires_at <= ${now} and status = 'active'`
