import type { Queryable } from '@tollgate/platform/database/database'

/** Returns whether the purchase has an open invoice with a failed charge. The invoice `besides` is not considered. */
export async function hasUnpaidInvoice(
  sql: Queryable,
  providerId: string,
  purchaseRef: string,
  exceptRef = '',
): Promise<boolean> {
  const rows = await sql`
    select 1 from invoices where provider_id = ${providerId} and purchase_ref = ${purchaseRef}
      and reference <> ${exceptRef} and status = 'open' and failed_charges > 0 limit 1`
  return rows.length > 0
}

/** Returns whether the purchase has an open invoice, whether or not its charge has failed. */
export async function hasOpenInvoice(
  sql: Queryable,
  providerId: string,
  purchaseRef: string,
): Promise<boolean> {
  const rows = await sql`
    select 1 from invoices where provider_id = ${providerId} and purchase_ref = ${purchaseRef}
      and status = 'open' limit 1`
  return rows.length > 0
}

/** Makes the customer's open invoices with failed charges due for a charge now, or when they are due. Held ones are excluded. */
export async function scheduleUnpaidCharges(
  sql: Queryable,
  providerId: string,
  customerRef: string,
  now: Date,
): Promise<void> {
  await sql`
    update invoices set next_charge_at = greatest(due_at, ${now}), updated_at = ${now}
    where provider_id = ${providerId} and customer_ref = ${customerRef}
      and status = 'open' and failed_charges > 0 and not is_held`
}

/** Returns the purchase's open invoices for a period that begins when they are paid. */
export async function listOpenRecurringInvoices(
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

/** Returns whether the invoice charges more than the price of a period: usage, or items that a person added. */
export async function chargesMore(
  sql: Queryable,
  providerId: string,
  invoiceRef: string,
): Promise<boolean> {
  const rows = await sql`
    select 1 from billed_periods
    where provider_id = ${providerId} and invoice_ref = ${invoiceRef} and part = 'usage'
    union all
    select 1 from invoice_lines
    where provider_id = ${providerId} and invoice_ref = ${invoiceRef} and kind = 'item'
    limit 1`
  return rows.length > 0
}

/** Cancels the scheduled charges of a deleted customer's invoices. */
export async function cancelScheduledCharges(
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

/**
 * Counts the open invoices of all providers that exceed what the processor accepts in one charge. They are not charged
 * until a person decides how they are paid. Invoices that a person holds are not counted.
 */
export async function countHeldInvoices(sql: Queryable): Promise<number> {
  const [row] = await sql<[{ count: number }]>`
    select count(*)::int from invoices where status = 'open' and is_held
      and not exists (select from invoice_decisions as decision where decision.kind = 'held'
        and decision.provider_id = invoices.provider_id
        and decision.invoice_ref = invoices.reference)`
  return row.count
}
