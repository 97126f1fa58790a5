import type { Queryable } from '@tollgate/platform/database/database'

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
