import type { Fragment } from 'postgres'
import type { Queryable } from '@tollgate/platform/database/database'
import { milliseconds } from '../postgres/milliseconds.ts'
import { isToAnnounce, isUnannounced } from '../wallet/announce-expiry.ts'

/** Selects `provider_id`, `customer_ref`, `item` and `due_at` of the items of all providers that are due at that instant. */
export type SelectDue = (sql: Queryable, now: Date) => Fragment

/** The items that a job must process, and the instants at which they become due. */
export type DueItems = {
  readonly select: SelectDue
  /**
   * Selects `at`: the instants, passed or not, from which `select` may select an item of these customers. `customers` selects
   * `provider_id` and `reference`. A test clock stops at these instants. A superfluous instant only costs a query. If an instant is
   * missing, the clock passes the item without processing it.
   */
  readonly selectInstants: (sql: Queryable, customers: Fragment) => Fragment
}

/*
 * The purchases, invoices and checkouts that a job must check. The conditions use indexes and may select purchases
 * that are not due. The final decision is made on the purchase itself, under its lock.
 */

/** Selects trials and periods that end within `aheadMs` and for which no reminder was sent yet. */
export function remindablePurchases(aheadMs: number): DueItems {
  const isReminded = (sql: Queryable): Fragment => sql`
    status in ('active', 'trialing')
      and (status = 'active' and auto_renew or status = 'trialing' and cancelled_at is null)
      and reminded_of is distinct from next_billing_date`
  return {
    select: (sql, now) => sql`
      select provider_id, customer_ref, reference as item, next_billing_date as due_at from purchases
      where next_billing_date > ${now}
        and next_billing_date <= ${new Date(now.getTime() + aheadMs)}
        and ${isReminded(sql)}`,
    selectInstants: (sql, customers) => sql`
      select next_billing_date - ${milliseconds(sql, aheadMs)} as at from purchases
      where ${isOf(sql, customers)} and ${isReminded(sql)}`,
  }
}

export const endedTrials = rowsDue({
  table: 'purchases',
  at: 'next_billing_date',
  isCandidate: (sql) => sql`status = 'trialing' and cancelled_at is null`,
})

export const dueRenewals = rowsDue({
  table: 'purchases',
  at: 'next_billing_date',
  isCandidate: (sql) => sql`status = 'active' and auto_renew`,
})

/** Selects purchases with a period that has begun, and purchases whose previous period can no longer receive usage. */
export const dueResets: DueItems = {
  select: (sql, now) => sql`
    select provider_id, customer_ref, reference as item,
      least(next_reset_at, carry_settles_at) as due_at
    from purchases
    where (next_reset_at <= ${now} and status in ('active', 'trialing', 'past_due'))
      or carry_settles_at <= ${now}`,
  selectInstants: (sql, customers) => sql`
    select next_reset_at as at from purchases
    where ${isOf(sql, customers)} and status in ('active', 'trialing', 'past_due')
    union all
    select carry_settles_at as at from purchases where ${isOf(sql, customers)}`,
}

/** Selects purchases whose end has passed but whose status does not show it. */
export const lapsedPurchases = rowsDue({
  table: 'purchases',
  at: 'end_date',
  isCandidate: (sql) => sql`status in ('active', 'trialing', 'past_due')`,
})

/**
 * Selects purchases with a usage period that has ended and is not billed, purchases whose late usage is closed from now
 * on, and purchases whose usage is billed but whose price, which is charged after the usage, is not.
 */
export function usageToBill(graceMs: number): DueItems {
  const isChargedAfterUsage = (sql: Queryable): Fragment => sql`
    status = 'active' and auto_renew
      and plan_snapshot->>'type' = 'hybrid'
      and plan_snapshot->'terms'->>'billingStrategy' = 'usage_first'
      and next_usage_bill_at > next_billing_date`
  return {
    select: (sql, now) => sql`
      select provider_id, customer_ref, reference as item,
        least(next_usage_bill_at, ended_at) as due_at
      from purchases
      where least(next_usage_bill_at, ended_at) <= ${new Date(now.getTime() - graceMs)}
        and next_usage_bill_at is not null and status not in ('pending', 'trialing', 'refunded')
      union all
      select provider_id, customer_ref, reference as item, usage_closes_at as due_at from purchases
      where usage_closes_at <= ${now} and status <> 'refunded'
      union all
      select provider_id, customer_ref, reference as item, next_billing_date as due_at from purchases
      where next_billing_date <= ${now} and ${isChargedAfterUsage(sql)}
        and least(next_usage_bill_at, ended_at) > ${new Date(now.getTime() - graceMs)}`,
    selectInstants: (sql, customers) => sql`
      select least(next_usage_bill_at, ended_at) + ${milliseconds(sql, graceMs)} as at from purchases
      where ${isOf(sql, customers)}
        and next_usage_bill_at is not null and status not in ('pending', 'trialing', 'refunded')
      union all
      select usage_closes_at as at from purchases
      where ${isOf(sql, customers)} and status <> 'refunded'
      union all
      select next_billing_date as at from purchases
      where ${isOf(sql, customers)} and ${isChargedAfterUsage(sql)}`,
  }
}

/** Selects purchases whose plan changes within a period or a trial. */
export const dueChanges = rowsDue({
  table: 'purchases',
  at: 'scheduled_plan_at',
  isCandidate: (sql) => sql`
    status in ('active', 'trialing') and cancelled_at is null and scheduled_plan_billing is not null`,
})

/** Selects migrations of plans that have purchases to process. They are no work of one customer, so clocks do not wait for them. */
export const migrationsToAdvance: DueItems = {
  select: (sql) => sql`
    select provider_id, null::text as customer_ref, reference as item, updated_at as due_at
    from plan_migrations where status in ('running', 'cancelling')`,
  selectInstants: (sql) => sql`select null::timestamptz as at where false`,
}

/**
 * Selects purchases whose unbilled usage was found to have reached the amount of their plan. While an invoice of the purchase is
 * open, they wait.
 */
export const thresholdsToBill: DueItems = {
  select: (sql) => sql`
    select crossing.provider_id, purchase.customer_ref, purchase_ref as item, noted_at as due_at
    from threshold_crossings as crossing
    left join purchases as purchase on purchase.provider_id = crossing.provider_id
      and purchase.reference = crossing.purchase_ref
    where ${hasNoOpenInvoice(sql)}`,
  selectInstants: (sql, customers) => sql`
    select noted_at as at from threshold_crossings as crossing
    where (provider_id, purchase_ref) in (
      select provider_id, reference from purchases where ${isOf(sql, customers)})
      and ${hasNoOpenInvoice(sql)}`,
}

function hasNoOpenInvoice(sql: Queryable): Fragment {
  return sql`not exists (
    select from invoices where invoices.provider_id = crossing.provider_id
      and invoices.purchase_ref = crossing.purchase_ref and invoices.status = 'open')`
}

/** Selects customers and products whose packs are to be settled. */
export const duePacks: DueItems = {
  select: (sql, now) => sql`
    select provider_id, customer_ref, customer_ref || '/' || product_ref as item, due_at
    from pack_accounts where due_at <= ${now}`,
  selectInstants: (sql, customers) => sql`
    select due_at as at from pack_accounts where ${isOf(sql, customers)}`,
}

/** Selects open invoices that are due for their first or their next charge. */
export const dueCharges = rowsDue({ table: 'invoices', at: 'next_charge_at' })

/** Selects open invoices that are no longer charged automatically and have not changed for `quietMs`. */
export function uncollectedInvoices(quietMs: number): DueItems {
  return rowsDue({
    table: 'invoices',
    at: 'updated_at',
    isCandidate: (sql) => sql`status = 'open' and next_charge_at is null and not is_held`,
    delayMs: quietMs,
  })
}

/**
 * Selects VAT numbers of the EU that the register was not asked about, and those that it is to be asked about again. Numbers that no
 * customer has any more are due then as well, to be forgotten.
 */
export const taxIdsToCheck: DueItems = {
  // A tax id can have several customers, so none is selected.
  select: (sql, now) => sql`
    select provider_id, null::text as customer_ref, tax_id as item, min(updated_at) as due_at
    from customer_tax_details as details
    where tax_id_type = 'eu_vat' and tax_id is not null and not exists (
      select from tax_id_checks as checked
      where checked.provider_id = details.provider_id and checked.tax_id = details.tax_id)
    group by provider_id, tax_id
    union all
    select provider_id, null::text as customer_ref, tax_id as item, next_check_at as due_at
    from tax_id_checks
    where next_check_at <= ${now}`,
  // Test clocks belong to the sandbox, whose tax ids are not looked up.
  selectInstants: (sql) => sql`select null::timestamptz as at where false`,
}

/** Selects checkouts that expired before they were completed. */
export const abandonedCheckouts = rowsDue({
  table: 'checkout_sessions',
  at: 'expires_at',
  isCandidate: (sql) => sql`status = 'active'`,
  item: 'session_id',
})

/** Selects schedules of credits with a grant to give, and those whose purchase has changed. */
export const dueCreditSchedules = rowsDue({ table: 'credit_schedules', at: 'look_at' })

/** Selects wallets with grants that have expired. */
export const expiringWallets: DueItems = {
  select: (sql, now) => sql`
    select provider_id, customer_ref, customer_ref as item, min(expiry_due_at) as due_at
    from credit_grants where expiry_due_at <= ${now} group by provider_id, customer_ref`,
  selectInstants: (sql, customers) => sql`
    select expiry_due_at as at from credit_grants
    where ${isOf(sql, customers)} and expiry_due_at is not null`,
}

/** Selects wallets with credits whose expiry is announced, `aheadMs` before it. */
export function walletsToAnnounce(aheadMs: number): DueItems {
  return {
    select: (sql, now) => sql`
      select provider_id, customer_ref, customer_ref as item, min(expires_at) as due_at
      from credit_grants where ${isToAnnounce(sql, now, aheadMs)}
      group by provider_id, customer_ref`,
    selectInstants: (sql, customers) => sql`
      select expires_at - ${milliseconds(sql, aheadMs)} as at from credit_grants
      where ${isOf(sql, customers)} and ${isUnannounced(sql, aheadMs)}`,
  }
}

type DueRows = {
  readonly table: 'purchases' | 'invoices' | 'checkout_sessions' | 'credit_schedules'
  /** Name of the column with the time. */
  readonly at: string
  /** Returns a further condition. Without it, every row with a time is a candidate. */
  readonly isCandidate?: (sql: Queryable) => Fragment
  /** Name of the column that names the item. */
  readonly item?: string
  /** Milliseconds after the time of the row from which the row is due. */
  readonly delayMs?: number
}

/** Returns the rows of a table as items, which are due at the time in the column `at`, or `delayMs` after it. */
function rowsDue({
  table,
  at,
  isCandidate = (sql) => sql`true`,
  item = 'reference',
  delayMs = 0,
}: DueRows): DueItems {
  return {
    select: (sql, now) => sql`
      select provider_id, customer_ref, ${sql(item)} as item, ${sql(at)} as due_at
      from ${sql(table)}
      where ${sql(at)} <= ${new Date(now.getTime() - delayMs)} and ${isCandidate(sql)}`,
    selectInstants: (sql, customers) => sql`
      select ${delayed(sql, at, delayMs)} as at from ${sql(table)}
      where ${isOf(sql, customers)} and ${isCandidate(sql)}`,
  }
}

/** An undelayed time is selected as the plain column, so that the limit of a query on it can use the column's index. */
function delayed(sql: Queryable, at: string, delayMs: number): Fragment {
  return delayMs === 0 ? sql`${sql(at)}` : sql`${sql(at)} + ${milliseconds(sql, delayMs)}`
}

function isOf(sql: Queryable, customers: Fragment): Fragment {
  return sql`(provider_id, customer_ref) in (${customers})`
}
