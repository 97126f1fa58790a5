import type { Fragment } from 'postgres'
import type { Queryable } from '@tollgate/platform/database/database'
import type { PurchaseOrigin, PurchaseStatus } from '@tollgate/schemas/http/purchases'
import type { JsonObject } from '@tollgate/schemas/json-object'
import type { CycleMode } from '../periods/periods.ts'
import { selectNames, type CustomerName } from '../customers/repository.ts'
import { jsonb } from '../postgres/jsonb.ts'
import type { PlanSnapshot } from './plan-snapshot.ts'

export type Purchase = {
  readonly reference: string
  readonly customerRef: string
  readonly customerEmail: string
  /** '' for a top-up of no product. */
  readonly productRef: string
  readonly productName: string
  /** Null for a credit top-up, like the snapshot. */
  readonly planRef: string | null
  readonly planSnapshot: PlanSnapshot | null
  readonly status: PurchaseStatus
  readonly origin: PurchaseOrigin
  /** USD cents. */
  readonly amountMinor: number
  /** Minor units of `currency`. */
  readonly originalAmountMinor: number | null
  readonly currency: string
  readonly exchangeRate: string | null
  /** Where its periods are counted from. */
  readonly anchor: Date
  readonly cycleMode: CycleMode
  readonly billingCycle: string | null
  readonly isRecurring: boolean
  readonly autoRenew: boolean
  readonly startDate: Date
  readonly endDate: Date | null
  readonly nextBillingDate: Date | null
  readonly paidAt: Date | null
  readonly cancelledAt: Date | null
  readonly cancellationReason: string | null
  readonly endedAt: Date | null
  readonly metadata: JsonObject
  /** The billing date, or the end of the trial, that was told of beforehand. */
  readonly remindedOf: Date | null
  /** Where the period ends in which usage counts now; null: there is no next one. */
  readonly nextResetAt: Date | null
  /** Charges in a row that failed for the period that is due, and when the next one is tried. */
  readonly retryCount: number
  readonly nextRetryAt: Date | null
  /** The end of the first period whose usage is not billed yet; null: none is to be billed. */
  readonly nextUsageBillAt: Date | null
  /** Of one that has ended: when the usage of it that came late is billed, for the last time; null: not ended, or done. */
  readonly usageClosesAt: Date | null
  /** When it was last suspended, and when access was given back after that; null: it was not, or nobody noted it. */
  readonly suspendedAt: Date | null
  readonly accessRestoredAt: Date | null
  /** Where the period begins whose left units are settled, and how many they are, 10^-6. Null: none are. */
  readonly carriedInto: Date | null
  readonly carriedOverMicros: bigint | null
  /** When nothing can come any more of the period before, and what it leaves is settled; null: that does not matter. */
  readonly carrySettlesAt: Date | null
  readonly createdAt: Date
  readonly updatedAt: Date
}

type PurchaseRow = {
  reference: string
  customer_ref: string
  customer_email: string
  product_ref: string | null
  product_name: string | null
  plan_ref: string | null
  plan_snapshot: PlanSnapshot | null
  status: PurchaseStatus
  origin: PurchaseOrigin
  amount: bigint
  original_amount: bigint | null
  currency: string
  exchange_rate: string | null
  anchor: Date
  cycle_mode: CycleMode
  billing_cycle: string | null
  is_recurring: boolean
  auto_renew: boolean
  start_date: Date
  end_date: Date | null
  next_billing_date: Date | null
  paid_at: Date | null
  cancelled_at: Date | null
  cancellation_reason: string | null
  ended_at: Date | null
  metadata: JsonObject
  reminded_of: Date | null
  next_reset_at: Date | null
  retry_count: number
  next_retry_at: Date | null
  next_usage_bill_at: Date | null
  usage_closes_at: Date | null
  suspended_at: Date | null
  access_restored_at: Date | null
  carried_into: Date | null
  carried_over_micros: bigint | null
  carry_settles_at: Date | null
  created_at: Date
  updated_at: Date
}

export type PurchaseFilter = {
  readonly reference?: string | undefined
  /** The customer's own reference. */
  readonly customerRef?: string | undefined
  readonly productRef?: string | undefined
  readonly planRef?: string | undefined
  readonly statuses?: readonly PurchaseStatus[] | undefined
  /** Leaves out free recurring purchases and automatic enrolments. */
  readonly withoutFree?: boolean | undefined
  readonly rowsMax: number
  /** Rows to skip. */
  readonly offset?: number | undefined
}

/** What a top-up of no product is called. */
export const topUpName = 'Credit top-up'

/** The states in which a purchase gives access to its product. */
export const statusesWithAccess = ['active', 'trialing', 'past_due'] as const

/** Breaks a unique constraint when the customer has a purchase with access to the product already. */
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
       next_reset_at, next_usage_bill_at, created_at, updated_at)
    values (${providerId}, ${purchase.reference}, ${purchase.customerRef},
      ${purchase.productRef || null},
      ${purchase.planRef}, ${jsonb(sql, purchase.planSnapshot)}, ${purchase.status},
      ${purchase.origin}, ${purchase.amountMinor}, ${purchase.originalAmountMinor},
      ${purchase.currency}, ${purchase.exchangeRate}, ${purchase.anchor}, ${purchase.cycleMode},
      ${purchase.billingCycle}, ${purchase.isRecurring}, ${purchase.autoRenew},
      ${purchase.startDate}, ${purchase.endDate}, ${purchase.nextBillingDate}, ${purchase.paidAt},
      ${jsonb(sql, purchase.metadata)}, ${purchase.nextResetAt}, ${purchase.nextUsageBillAt}, ${purchase.createdAt},
      ${purchase.updatedAt})`
}

/** Everything about a purchase that changes in its life. */
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

/** Newest first. */
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
    select purchases.*, customers.email as customer_email, products.name as product_name
    from purchases
    join customers on customers.provider_id = purchases.provider_id
      and customers.reference = purchases.customer_ref
    left join products on products.provider_id = purchases.provider_id
      and products.reference = purchases.product_ref`
}

/** All that the filter lets through, whatever page of them it asks for. */
export async function countPurchases(
  sql: Queryable,
  providerId: string,
  filter: Omit<PurchaseFilter, 'rowsMax'>,
): Promise<number> {
  const [row] = await sql<{ total: number }[]>`
    select count(*)::int as total from purchases where ${matchingPurchases(sql, providerId, filter)}`
  return row!.total
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

function matchingPurchases(
  sql: Queryable,
  providerId: string,
  filter: Omit<PurchaseFilter, 'rowsMax'>,
): Fragment {
  const { reference, customerRef, productRef, planRef, statuses } = filter
  return sql`purchases.provider_id = ${providerId}
    ${reference === undefined ? sql`` : sql`and purchases.reference = ${reference}`}
    ${customerRef === undefined ? sql`` : sql`and purchases.customer_ref = ${customerRef}`}
    ${productRef === undefined ? sql`` : sql`and purchases.product_ref = ${productRef}`}
    ${planRef === undefined ? sql`` : sql`and purchases.plan_ref = ${planRef}`}
    ${statuses === undefined ? sql`` : sql`and purchases.status in ${sql(statuses)}`}
    ${
      filter.withoutFree === true
        ? sql`and purchases.origin <> 'free_default'
            and not (purchases.is_recurring and purchases.amount = 0 and purchases.plan_ref is not null)`
        : sql``
    }`
}

/** The customer's latest purchase of a plan, whatever became of it. */
export async function findLastOfPlan(
  sql: Queryable,
  providerId: string,
  of: { readonly customerRef: string; readonly productRef: string; readonly planRef: string },
): Promise<Purchase | undefined> {
  const [purchase] = await listPurchases(sql, providerId, { ...of, rowsMax: 1 })
  return purchase
}

/** Customers say there in their own words why they leave. */
export async function forgetCancellationReasons(
  sql: Queryable,
  providerId: string,
  customerRef: string,
): Promise<void> {
  await sql`
    update purchases set cancellation_reason = null
    where provider_id = ${providerId} and customer_ref = ${customerRef}
      and cancellation_reason is not null`
}

/** Whoever changes a purchase locks it first, and decides by what is found then. */
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

/** The purchase of a plan that decides about access: the one that gives it, else the latest. */
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
    order by ${decidingFirst(sql)}
    limit 1`
  return row === undefined ? undefined : fromRow(row)
}

/** What of a purchase decides about access and counting. */
export type EntitlingPurchase = Pick<
  Purchase,
  | 'reference'
  | 'customerRef'
  | 'productRef'
  | 'planSnapshot'
  | 'status'
  | 'anchor'
  | 'cycleMode'
  | 'startDate'
  | 'endDate'
  | 'endedAt'
  | 'updatedAt'
  | 'suspendedAt'
  | 'accessRestoredAt'
  | 'carriedInto'
  | 'carriedOverMicros'
>

/** The deciding one per product that the customer ever held a plan of; by the customer's own reference. */
export async function listDecidingPurchases(
  sql: Queryable,
  customers: readonly CustomerName[],
): Promise<Map<string, EntitlingPurchase[]>> {
  const rows = await sql<EntitlingRow[]>`
    select distinct on (provider_id, customer_ref, product_ref)
      reference, customer_ref, product_ref, plan_snapshot, status, anchor, cycle_mode, start_date,
      end_date, ended_at, updated_at, suspended_at, access_restored_at, carried_into,
      carried_over_micros
    from purchases
    where (provider_id, customer_ref) in (${selectNames(sql, customers)}) and plan_ref is not null
    order by provider_id, customer_ref, product_ref, ${decidingFirst(sql)}`
  const found = new Map<string, EntitlingPurchase[]>()
  for (const row of rows) {
    const others = found.get(row.customer_ref)
    if (others === undefined) found.set(row.customer_ref, [toEntitling(row)])
    else others.push(toEntitling(row))
  }
  return found
}

function decidingFirst(sql: Queryable): Fragment {
  return sql`
    purchases.status in ${sql(statusesWithAccess)} desc, purchases.start_date desc,
    purchases.created_at desc`
}

type EntitlingRow = Pick<
  PurchaseRow,
  | 'reference'
  | 'customer_ref'
  | 'product_ref'
  | 'plan_snapshot'
  | 'status'
  | 'anchor'
  | 'cycle_mode'
  | 'start_date'
  | 'end_date'
  | 'ended_at'
  | 'updated_at'
  | 'suspended_at'
  | 'access_restored_at'
  | 'carried_into'
  | 'carried_over_micros'
>

function toEntitling(row: EntitlingRow): EntitlingPurchase {
  return {
    reference: row.reference,
    customerRef: row.customer_ref,
    productRef: row.product_ref ?? '',
    planSnapshot: row.plan_snapshot,
    status: row.status,
    anchor: row.anchor,
    cycleMode: row.cycle_mode,
    startDate: row.start_date,
    endDate: row.end_date,
    endedAt: row.ended_at,
    updatedAt: row.updated_at,
    suspendedAt: row.suspended_at,
    accessRestoredAt: row.access_restored_at,
    carriedInto: row.carried_into,
    carriedOverMicros: row.carried_over_micros,
  }
}

function fromRow(row: PurchaseRow): Purchase {
  return {
    ...toEntitling(row),
    customerEmail: row.customer_email,
    productName: row.product_name ?? topUpName,
    planRef: row.plan_ref,
    origin: row.origin,
    amountMinor: Number(row.amount),
    originalAmountMinor: row.original_amount === null ? null : Number(row.original_amount),
    currency: row.currency,
    exchangeRate: row.exchange_rate,
    billingCycle: row.billing_cycle,
    isRecurring: row.is_recurring,
    autoRenew: row.auto_renew,
    nextBillingDate: row.next_billing_date,
    paidAt: row.paid_at,
    cancelledAt: row.cancelled_at,
    cancellationReason: row.cancellation_reason,
    metadata: row.metadata,
    remindedOf: row.reminded_of,
    nextResetAt: row.next_reset_at,
    retryCount: row.retry_count,
    nextRetryAt: row.next_retry_at,
    nextUsageBillAt: row.next_usage_bill_at,
    usageClosesAt: row.usage_closes_at,
    carrySettlesAt: row.carry_settles_at,
    createdAt: row.created_at,
  }
}
