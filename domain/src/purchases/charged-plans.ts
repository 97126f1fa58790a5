import type { Queryable } from '@tollgate/platform/database/database'

export type PlanOfCustomer = {
  /** The customer's own reference. */
  readonly customerRef: string
  readonly productRef: string
  readonly planRef: string
}

/**
 * Whether the customer has paid for a purchase of the plan, which is what its set-up fee is due for once. A trial and a free
 * purchase are not paid, and neither is a purchase whose payments were all refunded.
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
