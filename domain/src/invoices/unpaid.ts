import type { Queryable } from '@tollgate/platform/database/database'

/** Whether the purchase has an open invoice whose charge has failed, besides that one. */
export async function hasUnpaid(
  sql: Queryable,
  providerId: string,
  purchaseRef: string,
  besides = '',
): Promise<boolean> {
  const rows = await sql`
    select 1 from invoices where provider_id = ${providerId} and purchase_ref = ${purchaseRef}
      and reference <> ${besides} and status = 'open' and failed_charges > 0 limit 1`
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

/** Open invoices of the purchase that charge for a period, which begins when they are paid. */
export async function listUnbegun(
  sql: Queryable,
  providerId: string,
  purchaseRef: string,
): Promise<string[]> {
  const rows = await sql<{ reference: string }[]>`
    select reference from invoices
    where provider_id = ${providerId} and purchase_ref = ${purchaseRef} and status = 'open'
      and exists (select from billed_periods as billed where billed.provider_id = invoices.provider_id
        and billed.invoice_ref = invoices.reference and billed.part = 'recurring')`
  return rows.map(({ reference }) => reference)
}

export async function chargesUsage(
  sql: Queryable,
  providerId: string,
  invoiceRef: string,
): Promise<boolean> {
  const rows = await sql`
    select 1 from billed_periods
    where provider_id = ${providerId} and invoice_ref = ${invoiceRef} and part = 'usage' limit 1`
  return rows.length > 0
}

/** A customer who was deleted is not charged any more. */
export async function stopChargingOf(
  sql: Queryable,
  providerId: string,
  customerRef: string,
  now: Date,
): Promise<void> {
  await sql`
    update invoices set next_charge_at = null, updated_at = ${now}
    where provider_id = ${providerId} and customer_ref = ${customerRef}
      and next_charge_at is not null`
}

/** Issued, and charged to nobody until a person has looked: they are over what can be charged at once. Of all providers. */
export async function countHeldInvoices(sql: Queryable): Promise<number> {
  const [row] = await sql<[{ count: number }]>`
    select count(*)::int from invoices where status = 'open' and is_held`
  return row.count
}
