import type { Queryable } from '@tollgate/platform/database/database'
import { jsonb } from '../postgres/jsonb.ts'
import { invoiceLine, type InvoiceLine } from '../pricing/invoice-line.ts'
import type { ItemCharge } from '../pricing/line-inputs.ts'
import type { CarriedAmountKey } from './carried-amounts.ts'

/** A line that a person added to the customer's next invoice in its currency. */
export type InvoiceItem = {
  readonly reference: string
  readonly customerRef: string
  /** ISO 4217, upper case. */
  readonly currency: string
  readonly description: string
  readonly inputs: ItemCharge
  readonly reason: string
  /** Name of the actor, as in the audit log. */
  readonly addedBy: string
  readonly createdAt: Date
}

type ItemRow = {
  reference: string
  customer_ref: string
  currency: string
  description: string
  inputs: ItemCharge
  reason: string
  added_by: string
  input_sha256: string
  created_at: Date
}

export async function insertItem(
  sql: Queryable,
  providerId: string,
  item: InvoiceItem,
  { idempotencyKey, inputSha256 }: { idempotencyKey: string | null; inputSha256: string },
): Promise<void> {
  const { reference, customerRef, currency, description, inputs, reason, addedBy } = item
  await sql`
    insert into invoice_items
      (provider_id, reference, customer_ref, currency, description, inputs, reason, added_by,
       idempotency_key, input_sha256, created_at)
    values (${providerId}, ${reference}, ${customerRef}, ${currency}, ${description},
      ${jsonb(sql, inputs)}, ${reason}, ${addedBy}, ${idempotencyKey}, ${inputSha256},
      ${item.createdAt})`
}

/** Returns the item that was added under the idempotency key. */
export async function findItemOfKey(
  sql: Queryable,
  providerId: string,
  idempotencyKey: string,
): Promise<{ readonly item: InvoiceItem; readonly inputSha256: string } | undefined> {
  const [row] = await sql<ItemRow[]>`
    select * from invoice_items
    where provider_id = ${providerId} and idempotency_key = ${idempotencyKey}`
  return row && { item: fromRow(row), inputSha256: row.input_sha256 }
}

/** Returns the items that no invoice charges yet, oldest first. */
export async function listPendingItems(
  sql: Queryable,
  providerId: string,
  customerRef: string,
): Promise<InvoiceItem[]> {
  const rows = await sql<ItemRow[]>`
    select * from invoice_items
    where provider_id = ${providerId} and customer_ref = ${customerRef} and invoice_ref is null
      and removed_at is null
    order by id`
  return rows.map(fromRow)
}

/** Removes a pending item. Returns false if the customer has no such item, or an invoice charges it. */
export async function removeItem(
  sql: Queryable,
  providerId: string,
  { customerRef, reference }: Pick<InvoiceItem, 'customerRef' | 'reference'>,
  now: Date,
): Promise<boolean> {
  const removed = await sql`
    update invoice_items set removed_at = ${now}
    where provider_id = ${providerId} and customer_ref = ${customerRef}
      and reference = ${reference} and invoice_ref is null and removed_at is null
    returning 1`
  return removed.length > 0
}

/** Removes the pending items of a customer who is deleted. */
export async function removeItemsOfCustomer(
  sql: Queryable,
  providerId: string,
  customerRef: string,
  now: Date,
): Promise<void> {
  await sql`
    update invoice_items set removed_at = ${now}
    where provider_id = ${providerId} and customer_ref = ${customerRef} and invoice_ref is null
      and removed_at is null`
}

/**
 * Marks the pending items of the customer in the currency as charged by the invoice, and returns their lines. An item is charged by one
 * invoice: a second transaction waits for the first one, and then finds none.
 */
export async function consumeItems(
  sql: Queryable,
  providerId: string,
  { customerRef, currency }: CarriedAmountKey,
  invoiceRef: string,
): Promise<InvoiceLine[]> {
  const pending = await sql<{ reference: string; description: string; inputs: ItemCharge }[]>`
    select reference, description, inputs from invoice_items
    where provider_id = ${providerId} and customer_ref = ${customerRef} and currency = ${currency}
      and invoice_ref is null and removed_at is null
    order by id for update`
  if (pending.length === 0) return []
  const references = pending.map(({ reference }) => reference)
  await sql`
    update invoice_items set invoice_ref = ${invoiceRef}
    where provider_id = ${providerId} and reference = any(${references})`
  return pending.map(lineOfItem)
}

/** Returns the line that an invoice gets for the item. */
export function lineOfItem({
  inputs,
  description,
}: Pick<InvoiceItem, 'inputs' | 'description'>): InvoiceLine {
  return invoiceLine(inputs, description, null)
}

export async function hasPendingItems(
  sql: Queryable,
  providerId: string,
  { customerRef, currency }: CarriedAmountKey,
): Promise<boolean> {
  const rows = await sql`
    select 1 from invoice_items
    where provider_id = ${providerId} and customer_ref = ${customerRef} and currency = ${currency}
      and invoice_ref is null and removed_at is null limit 1`
  return rows.length > 0
}

function fromRow(row: ItemRow): InvoiceItem {
  return {
    reference: row.reference,
    customerRef: row.customer_ref,
    currency: row.currency,
    description: row.description,
    inputs: row.inputs,
    reason: row.reason,
    addedBy: row.added_by,
    createdAt: row.created_at,
  }
}
