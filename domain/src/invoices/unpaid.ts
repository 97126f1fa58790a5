import type { Queryable } from '@tollgate/platform/database/database'

/** Whether the purchase has another open invoice whose charge has failed. */
export async function hasOtherUnpaid(
  sql: Queryable,
  providerId: string,
  purchaseRef: string,
  invoiceRef: string,
): Promise<boolean> {
  const rows = await sql`
    select 1 from invoices where provider_id = ${providerId} and purchase_ref = ${purchaseRef}
      and reference <> ${invoiceRef} and status = 'open' and failed_charges > 0 limit 1`
  return rows.length > 0
}

/** What could not be charged to the customer is tried again at the next look. */
export async function chargeUnpaidNow(
  sql: Queryable,
  providerId: string,
  customerRef: string,
  now: Date,
): Promise<void> {
  await sql`
    update invoices set next_charge_at = ${now}, updated_at = ${now}
    where provider_id = ${providerId} and customer_ref = ${customerRef}
      and status = 'open' and failed_charges > 0 and not is_held`
}
