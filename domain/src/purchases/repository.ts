import type { Fragment } from 'postgres'
import type { Queryable } from '@tollgate/platform/database/database'
import type { PurchaseStatus } from '@tollgate/schemas/http/purchases'
import { jsonb } from '../postgres/jsonb.ts'
import { selectOverrides } from '../overrides/repository.ts'
import type { Purchase } from './purchase.ts'
import {
  fromRow,
  type PurchaseRow,
  toEntitling,
  type EntitlingPurchase,
  type EntitlingRow,
} from './purchase-rows.ts'
import { selectCustomerRef, type CustomerName } from '../customers/customer-name.ts'
import { selectKeys, type CustomerKey } from '../customers/repository.ts'

export type { Purchase }

export type PurchaseFilter = {
  readonly reference?: string | undefined
  /** Reference of the customer. */
  readonly customerRef?: string | undefined
  /** The customer by another name. */
  readonly customer?: CustomerName | undefined
  readonly productRef?: string | undefined
  readonly planRef?: string | undefined
  /** Only these purchases, and only those of these customers, by their own references. Null: all. */
  readonly references?: readonly string[] | null | undefined
  readonly customerRefs?: readonly string[] | null | undefined
  /** Only purchases of plans: neither packs nor top-ups, of which a customer may have any number. */
  readonly isOfPlan?: boolean | undefined
  readonly statuses?: readonly PurchaseStatus[] | undefined
  /** Leaves out free recurring purchases and automatic enrolments. */
  readonly withoutFree?: boolean | undefined
  readonly rowsMax: number
  /** Number of rows to skip. */
  readonly offset?: number | undefined
}

/** The statuses in which a purchase gives access to its product. */
export const statusesWithAccess = ['active', 'trialing', 'past_due'] as const

/** Inserts a purchase. Breaks a unique constraint if the customer already has a purchase with access to the product. */
export async function insertPurchase(
  sql: Queryable,
  providerId: string,
  purchase: Purchase,
): Promise<void> {
  await sql`
    insert into purchases
      (provider_id, reference, customer_ref, product_ref, plan_ref, plan_snapshot, status, origin,
       amount, original_amount, currency, exchange_rate, anchor, cycle_mode, billing_cycle,
       is_recurring, auto_renew, start_date, end_date, next_billing_date, paid_at, metadata,
       next_reset_at, next_usage_bill_at, replaces, allowance_window, allowance_since,
       allowance_until, windows_taken_in, first_included_micros, first_paid, is_pack,
       scheduled_plan, scheduled_plan_at, is_scheduled_by_provider, scheduled_terms_at,
       cancelled_at, cancellation_reason, created_at, updated_at)
    values (${providerId}, ${purchase.reference}, ${purchase.customerRef},
      ${purchase.productRef || null},
      ${purchase.planRef}, ${jsonb(sql, purchase.planSnapshot)}, ${purchase.status},
      ${purchase.origin}, ${purchase.amountMinor}, ${purchase.originalAmountMinor},
      ${purchase.currency}, ${purchase.exchangeRate}, ${purchase.anchor}, ${purchase.cycleMode},
      ${purchase.billingCycle}, ${purchase.isRecurring}, ${purchase.autoRenew},
      ${purchase.startDate}, ${purchase.endDate}, ${purchase.nextBillingDate}, ${purchase.paidAt},
      ${jsonb(sql, purchase.metadata)}, ${purchase.nextResetAt}, ${purchase.nextUsageBillAt},
      ${purchase.replaces}, ${purchase.allowance?.window ?? null},
      ${purchase.allowance?.since ?? null}, ${purchase.allowance?.until ?? null},
      ${purchase.windowsTakenIn.length === 0 ? null : jsonb(sql, purchase.windowsTakenIn)},
      ${purchase.firstIncludedMicros?.toString() ?? null},
      ${purchase.firstPaidMinor?.toString() ?? null}, ${purchase.isPack},
      ${purchase.scheduledPlan === null ? null : jsonb(sql, purchase.scheduledPlan)},
      ${purchase.scheduledPlanAt}, ${purchase.isScheduledByProvider === true},
      ${purchase.scheduledTermsAt ?? null}, ${purchase.cancelledAt}, ${purchase.cancellationReason},
      ${purchase.createdAt}, ${purchase.updatedAt})`
}

/** Stores all fields of a purchase that transitions change. */
export async function updatePurchase(
  sql: Queryable,
  providerId: string,
  purchase: Purchase,
): Promise<void> {
  await sql`
    update purchases set status = ${purchase.status}, amount = ${purchase.amountMinor},
      original_amount = ${purchase.originalAmountMinor}, exchange_rate = ${purchase.exchangeRate}, auto_renew = ${purchase.autoRenew},
      end_date = ${purchase.endDate}, next_billing_date = ${purchase.nextBillingDate},
      paid_at = ${purchase.paidAt}, retry_count = ${purchase.retryCount},
      next_retry_at = ${purchase.nextRetryAt}, next_usage_bill_at = ${purchase.nextUsageBillAt}, cancelled_at = ${purchase.cancelledAt},
      cancellation_reason = ${purchase.cancellationReason}, ended_at = ${purchase.endedAt},
      suspended_at = ${purchase.suspendedAt}, access_restored_at = ${purchase.accessRestoredAt},
      updated_at = ${purchase.updatedAt}
    where provider_id = ${providerId} and reference = ${purchase.reference}`
}

/** Returns the matching purchases, newest first. */
export async function listPurchases(
  sql: Queryable,
  providerId: string,
  filter: PurchaseFilter,
): Promise<Purchase[]> {
  const rows = await sql<PurchaseRow[]>`
    ${selectPurchases(sql)}
    where ${matchingPurchases(sql, providerId, filter)}
    order by purchases.start_date desc, purchases.created_at desc, purchases.reference
    limit ${filter.rowsMax} offset ${filter.offset ?? 0}`
  return rows.map(fromRow)
}

function selectPurchases(sql: Queryable): Fragment {
  return sql`
    select purchases.*, customers.email as customer_email, products.name as product_name,
      ${selectOverrides(sql)}
    from purchases
    join customers on customers.provider_id = purchases.provider_id
      and customers.reference = purchases.customer_ref
    left join products on products.provider_id = purchases.provider_id
      and products.reference = purchases.product_ref`
}

/** Returns the number of matching purchases on all pages. */
export async function countPurchases(
  sql: Queryable,
  providerId: string,
  filter: Omit<PurchaseFilter, 'rowsMax'>,
): Promise<number> {
  const [row] = await sql<{ total: number }[]>`
    select count(*)::int as total from purchases where ${matchingPurchases(sql, providerId, filter)}`
  return row!.total
}

function matchingPurchases(
  sql: Queryable,
  providerId: string,
  filter: Omit<PurchaseFilter, 'rowsMax'>,
): Fragment {
  const { reference, customerRef, customer, productRef, planRef, isOfPlan, statuses } = filter
  const { references, customerRefs } = filter
  return sql`purchases.provider_id = ${providerId}
    ${reference === undefined ? sql`` : sql`and purchases.reference = ${reference}`}
    ${customerRef === undefined ? sql`` : sql`and purchases.customer_ref = ${customerRef}`}
    ${customer === undefined ? sql`` : sql`and purchases.customer_ref = (${selectCustomerRef(sql, providerId, customer)})`}
    ${productRef === undefined ? sql`` : sql`and purchases.product_ref = ${productRef}`}
    ${planRef === undefined ? sql`` : sql`and purchases.plan_ref = ${planRef}`}
    ${isOfPlan === true ? sql`and purchases.plan_ref is not null and not purchases.is_pack` : sql``}
    ${references ? sql`and purchases.reference = any(${[...references]})` : sql``}
    ${customerRefs ? sql`and purchases.customer_ref = any(${[...customerRefs]})` : sql``}
    ${statuses === undefined ? sql`` : sql`and purchases.status in ${sql(statuses)}`}
    ${
      filter.withoutFree === true
        ? sql`and purchases.origin <> 'free_default'
            and not (purchases.is_recurring and purchases.amount = 0 and purchases.plan_ref is not null)`
        : sql``
    }`
}

/** Returns the customer's latest purchase of a plan, in any status. */
export async function findLastOfPlan(
  sql: Queryable,
  providerId: string,
  planOfCustomer: PlanOfCustomer,
): Promise<Purchase | undefined> {
  const [purchase] = await listPurchases(sql, providerId, { ...planOfCustomer, rowsMax: 1 })
  return purchase
}

/** Returns a purchase and locks its row. Every process that changes a purchase locks it first and decides by the locked state. */
export async function lockPurchase(
  sql: Queryable,
  providerId: string,
  reference: string,
): Promise<Purchase | undefined> {
  const [row] = await sql<PurchaseRow[]>`
    ${selectPurchases(sql)}
    where purchases.provider_id = ${providerId} and purchases.reference = ${reference}
    for update of purchases`
  return row === undefined ? undefined : fromRow(row)
}

/** Returns the purchase that decides about access to the product: the one that gives access, otherwise the latest. Never a pack. */
export async function findDecidingPurchase(
  sql: Queryable,
  providerId: string,
  customerRef: string,
  productRef: string,
): Promise<Purchase | undefined> {
  const [row] = await sql<PurchaseRow[]>`
    ${selectPurchases(sql)}
    where purchases.provider_id = ${providerId} and purchases.customer_ref = ${customerRef}
      and purchases.product_ref = ${productRef} and purchases.plan_ref is not null
      and not purchases.is_pack
    order by ${decidingFirst(sql)}
    limit 1`
  return row === undefined ? undefined : fromRow(row)
}

function decidingFirst(sql: Queryable): Fragment {
  return sql`
    purchases.status in ${sql(statusesWithAccess)} desc, purchases.start_date desc,
    purchases.created_at desc`
}

export async function countPurchasesByStatus(
  sql: Queryable,
  providerId: string,
): Promise<Map<PurchaseStatus, number>> {
  const rows = await sql<{ status: PurchaseStatus; total: number }[]>`
    select status, count(*)::int as total from purchases
    where provider_id = ${providerId} group by status`
  return new Map(rows.map(({ status, total }) => [status, total]))
}

export type PlanOfCustomer = {
  /** Reference of the customer. */
  readonly customerRef: string
  readonly productRef: string
  readonly planRef: string
}

/**
 * Returns whether the customer has paid for a purchase of the plan. The set-up fee is charged until then. Trials, free purchases
 * and purchases whose payments were all refunded do not count.
 */
export async function hasPaidForPlan(
  sql: Queryable,
  providerId: string,
  { customerRef, productRef, planRef }: PlanOfCustomer,
): Promise<boolean> {
  const rows = await sql`
    select 1 from purchases
    where provider_id = ${providerId} and customer_ref = ${customerRef}
      and product_ref = ${productRef} and plan_ref = ${planRef} and paid_at is not null
      and (status <> 'refunded' or exists (
        select from invoices where invoices.provider_id = purchases.provider_id
          and purchase_ref = purchases.reference and paid > refunded))
    limit 1`
  return rows.length > 0
}

/** Returns the deciding purchase for each product of which the customer ever held a plan, keyed by the customer's reference. */
export async function listDecidingPurchases(
  sql: Queryable,
  customers: readonly CustomerKey[],
): Promise<Map<string, EntitlingPurchase[]>> {
  const rows = await sql<EntitlingRow[]>`
    select distinct on (provider_id, customer_ref, product_ref)
      reference, customer_ref, product_ref, plan_snapshot, status, anchor, cycle_mode, start_date,
      end_date, ended_at, updated_at, suspended_at, access_restored_at, carried_into,
      carried_over_micros, allowance_window, allowance_since, allowance_until,
      windows_taken_in, first_included_micros, unbilled_raised_from, unbilled_raised_micros,
      ${selectOverrides(sql)}
    from purchases
    where (provider_id, customer_ref) in (${selectKeys(sql, customers)}) and plan_ref is not null and not is_pack
    order by provider_id, customer_ref, product_ref, ${decidingFirst(sql)}`
  const found = new Map<string, EntitlingPurchase[]>()
  for (const row of rows) {
    const others = found.get(row.customer_ref)
    if (others === undefined) found.set(row.customer_ref, [toEntitling(row)])
    else others.push(toEntitling(row))
  }
  return found
}
