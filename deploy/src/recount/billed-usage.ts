import type { Queryable } from '@tollgate/platform/database/database'

type BilledRange = {
  readonly productRef: string
  readonly startMs: number
  readonly endMs: number
}

/** Returns the periods whose usage was billed to the customer, who may be named by any of its references. */
export async function listBilledUsage(
  sql: Queryable,
  providerId: string,
  customerRef: string,
): Promise<readonly BilledRange[]> {
  const rows = await sql<{ product_ref: string; period_start: Date; period_end: Date }[]>`
    select purchases.product_ref, period_start, period_end from billed_periods
    join purchases on purchases.provider_id = billed_periods.provider_id
      and purchases.reference = billed_periods.purchase_ref
    where billed_periods.provider_id = ${providerId} and part = 'usage'
      and purchases.product_ref is not null
      and purchases.customer_ref in (
        select customer_ref from customer_references
        where provider_id = ${providerId} and reference = ${customerRef}
        union select ${customerRef})`
  return rows.map((row) => ({
    productRef: row.product_ref,
    startMs: row.period_start.getTime(),
    endMs: row.period_end.getTime(),
  }))
}

/** Returns whether usage at the time is billed. Usage without a product counts for every product of the customer. */
export function isBilledAt(
  ranges: readonly BilledRange[],
  { productRef, atMs }: { readonly productRef: string; readonly atMs: number },
): boolean {
  return ranges.some(
    (range) =>
      (productRef === '' || range.productRef === productRef) &&
      atMs >= range.startMs &&
      atMs < range.endMs,
  )
}
