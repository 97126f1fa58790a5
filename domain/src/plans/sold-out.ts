import type { Queryable } from '@tollgate/platform/database/database'
import { requiresPayment, type Plan, type PlanCosts } from './plan.ts'

/** Fields of a plan that limit how often it can be sold. */
export type SoldPlan = Pick<Plan, 'reference'> & PlanCosts

/** Returns the maximum number of purchases of the plan; undefined for any number. */
export function maxQuantityOf({
  type,
  terms,
}: Pick<SoldPlan, 'type' | 'terms'>): number | undefined {
  const quantity = terms.availability?.['maxQuantity']
  return type === 'one-time' && typeof quantity === 'number' ? quantity : undefined
}

/**
 * Returns whether the plan is sold out, as far as can be known before the sale. A paid purchase uses one place until it is
 * refunded. Free purchases use one place for each customer, who keeps it for further free purchases.
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
 * Returns whether the plan is sold out, for a transaction that is about to sell it. The lock orders such transactions: of two
 * buyers of the last place, the second waits and finds the plan sold out. Call it after the customer is locked, and before a
 * purchase is locked.
 */
export async function lockAndCheckSoldOut(
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
