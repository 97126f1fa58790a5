import type { Queryable } from '@tollgate/platform/database/database'
import { selectKeys, type CustomerKey } from '../customers/repository.ts'
import {
  budgetStop,
  type Budget,
  type BudgetAction,
  type BudgetStop,
  type SpendReading,
} from './budget.ts'

type BudgetRow = {
  customer_ref: string
  product_ref: string
  amount_minor: bigint
  currency: string
  action: BudgetAction
  updated_at: Date
}

type ReadingRow = {
  customer_ref: string
  product_ref: string
  purchase_ref: string
  period_start: Date
  period_end: Date
  spent_minor: bigint
  currency: string
  measured_at: Date
}

export async function upsertBudget(
  sql: Queryable,
  providerId: string,
  { customerRef, productRef, amountMinor, currency, action }: Budget,
  now: Date,
): Promise<void> {
  await sql`
    insert into budgets
      (provider_id, customer_ref, product_ref, amount_minor, currency, action, created_at, updated_at)
    values (${providerId}, ${customerRef}, ${productRef}, ${amountMinor}, ${currency}, ${action}, ${now}, ${now})
    on conflict (provider_id, customer_ref, product_ref) do update set amount_minor = excluded.amount_minor,
      currency = excluded.currency, action = excluded.action, updated_at = excluded.updated_at`
}

/** Returns false if there was no budget. */
export async function deleteBudget(
  sql: Queryable,
  providerId: string,
  customerRef: string,
  productRef: string,
): Promise<boolean> {
  const deleted = await sql`
    delete from budgets
    where provider_id = ${providerId} and customer_ref = ${customerRef} and product_ref = ${productRef}`
  return deleted.count > 0
}

/** Removes the budgets of a customer who was deleted, and what was measured for them. */
export async function removeCustomerBudgets(
  sql: Queryable,
  providerId: string,
  customerRef: string,
): Promise<void> {
  await sql`delete from budgets where provider_id = ${providerId} and customer_ref = ${customerRef}`
  await sql`
    delete from spend_readings where provider_id = ${providerId} and customer_ref = ${customerRef}`
}

/** Returns the budgets of a customer, by product. */
export async function listBudgets(
  sql: Queryable,
  providerId: string,
  customerRef: string,
): Promise<Map<string, Budget>> {
  const rows = await sql<BudgetRow[]>`
    select * from budgets where provider_id = ${providerId} and customer_ref = ${customerRef}
    order by product_ref`
  return new Map(rows.map((row) => [row.product_ref, budgetFromRow(row)]))
}

/** Returns what was last measured for a customer, by product. */
export async function listSpendReadings(
  sql: Queryable,
  providerId: string,
  customerRef: string,
): Promise<Map<string, SpendReading>> {
  const rows = await sql<ReadingRow[]>`
    select * from spend_readings where provider_id = ${providerId} and customer_ref = ${customerRef}`
  return new Map(rows.map((row) => [row.product_ref, readingFromRow(row)]))
}

export async function upsertSpendReading(
  sql: Queryable,
  providerId: string,
  reading: SpendReading,
): Promise<void> {
  await sql`
    insert into spend_readings
      (provider_id, customer_ref, product_ref, purchase_ref, period_start, period_end, spent_minor, currency, measured_at)
    values (${providerId}, ${reading.customerRef}, ${reading.productRef}, ${reading.purchaseRef},
      ${reading.periodStart}, ${reading.periodEnd}, ${reading.spentMinor.toString()}, ${reading.currency},
      ${reading.measuredAt})
    on conflict (provider_id, customer_ref, product_ref) do update set
      purchase_ref = excluded.purchase_ref, period_start = excluded.period_start,
      period_end = excluded.period_end, spent_minor = excluded.spent_minor,
      currency = excluded.currency, measured_at = excluded.measured_at`
}

/** Returns the stops of customers, by customer and product. */
export async function listBudgetStops(
  sql: Queryable,
  customers: readonly CustomerKey[],
): Promise<Map<string, Map<string, BudgetStop>>> {
  const rows = await sql<(BudgetRow & ReadingRow & { spent_currency: string })[]>`
    select budgets.customer_ref, budgets.product_ref, budgets.amount_minor, budgets.currency, budgets.action,
      budgets.updated_at, spend_readings.purchase_ref, spend_readings.period_start,
      spend_readings.period_end, spend_readings.spent_minor, spend_readings.currency as spent_currency,
      spend_readings.measured_at
    from budgets join spend_readings using (provider_id, customer_ref, product_ref)
    where (budgets.provider_id, budgets.customer_ref) in (${selectKeys(sql, customers)})
      and budgets.action = 'stop'`
  const stops = new Map<string, Map<string, BudgetStop>>()
  for (const row of rows) {
    const reading = readingFromRow({ ...row, currency: row.spent_currency })
    const stop = budgetStop(budgetFromRow(row), reading)
    if (stop === undefined) continue
    const ofCustomer = stops.get(row.customer_ref) ?? new Map<string, BudgetStop>()
    stops.set(row.customer_ref, ofCustomer.set(row.product_ref, stop))
  }
  return stops
}

function budgetFromRow(row: BudgetRow): Budget {
  return {
    customerRef: row.customer_ref,
    productRef: row.product_ref,
    amountMinor: Number(row.amount_minor),
    currency: row.currency,
    action: row.action,
    updatedAt: row.updated_at,
  }
}

function readingFromRow(row: ReadingRow): SpendReading {
  return {
    customerRef: row.customer_ref,
    productRef: row.product_ref,
    purchaseRef: row.purchase_ref,
    periodStart: row.period_start,
    periodEnd: row.period_end,
    spentMinor: row.spent_minor,
    currency: row.currency,
    measuredAt: row.measured_at,
  }
}
