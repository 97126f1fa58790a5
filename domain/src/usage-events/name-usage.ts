import type { Queryable } from '@tollgate/platform/database/database'
import type { MeterEvent } from '@tollgate/schemas/meter-event'
import type { UsageNames } from './usage-event.ts'

/** Returns the customers of the records and their purchases at the time, in the order of the records. */
export async function nameUsage(
  sql: Queryable,
  events: readonly MeterEvent[],
): Promise<UsageNames[]> {
  const rows = await sql<{ customer_ref: string | null; purchase_ref: string | null }[]>`
    select link.customer_ref, held.reference as purchase_ref
    from unnest(
      ${events.map((event) => event.providerId)}::text[],
      ${events.map((event) => event.customerRef)}::text[],
      ${events.map((event) => event.productRef ?? '')}::text[],
      ${events.map((event) => new Date(event.timestamp).toISOString())}::timestamptz[]
    ) with ordinality as used (provider_id, reference, product_ref, used_at, place)
    left join customer_references link
      on link.provider_id = used.provider_id and link.reference = used.reference
      and link.released_at is null
    left join lateral (
      select purchases.reference from purchases
      where purchases.provider_id = used.provider_id
        and purchases.customer_ref = link.customer_ref
        and purchases.product_ref = used.product_ref and purchases.plan_ref is not null
        and purchases.start_date <= used.used_at
        and coalesce(purchases.ended_at, purchases.end_date, 'infinity') > used.used_at
      order by purchases.start_date desc, purchases.created_at desc
      limit 1
    ) held on true
    order by used.place`
  return rows.map((row) => ({
    customerRef: row.customer_ref ?? undefined,
    purchaseRef: row.purchase_ref ?? undefined,
  }))
}
