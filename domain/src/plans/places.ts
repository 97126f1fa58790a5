import type { Queryable } from '@tollgate/platform/database/database'
import { requiresPayment, type Plan, type PlanCosts } from './plan.ts'

/** What of a plan says how often it can be sold. */
export type SoldPlan = Pick<Plan, 'reference'> & PlanCosts

/** How many purchases of the plan there can be; undefined: any number. */
export function maxQuantityOf({
  type,
  terms,
}: Pick<SoldPlan, 'type' | 'terms'>): number | undefined {
  const quantity = terms.availability?.['maxQuantity']
  return type === 'one-time' && typeof quantity === 'number' ? quantity : undefined
}

/**
 * Whether the last one is sold, as far as it can be said beforehand. A purchase that was paid takes a place until it is
 * refunded. Purchases that cost nothing take one place for each customer, who keeps it for another of them.
 */
export async function isSoldOut(
  sql: Queryable,
  providerId: string,
  plan: SoldPlan,
  customerRef: string,
): Promise<boolean> {
  const max = maxQuantityOf(plan)
  if (max === undefined) return false
  const [row] = await sql<[{ sold: number; is_kept: boolean | null }]>`
    select count(distinct case when amount > 0 then reference else customer_ref end)::int as sold,
      bool_or(amount = 0 and customer_ref = ${customerRef}) as is_kept
    from purchases
    where provider_id = ${providerId} and plan_ref = ${plan.reference} and status <> 'refunded'`
  if (row.is_kept === true && !requiresPayment(plan)) return false
  return row.sold >= max
}

/**
 * The same for a transaction that is about to sell one, and orders those: of buyers of the last one the second waits, and
 * finds it sold. Call it after the customer is locked, and before a purchase is.
 */
export async function isSoldOutNow(
  sql: Queryable,
  providerId: string,
  plan: SoldPlan,
  customerRef: string,
): Promise<boolean> {
  if (maxQuantityOf(plan) === undefined) return false
  await sql`
    select from plans where provider_id = ${providerId} and reference = ${plan.reference}
    for no key update`
  return isSoldOut(sql, providerId, plan, customerRef)
}
