import type { Queryable } from '@tollgate/platform/database/database'

export type DebtScope = {
  readonly customerRef: string
  readonly productRef: string
}

/**
 * Returns the references of the customer's issued and unpaid invoices for the product, oldest first. Excludes an
 * invoice for a period that never begins because its purchase has ended: nothing is owed for it, and it becomes void.
 */
export async function listDebts(
  sql: Queryable,
  providerId: string,
  { customerRef, productRef }: DebtScope,
): Promise<string[]> {
  const rows = await sql<{ reference: string }[]>`
    select invoices.reference from invoices
    join purchases on purchases.provider_id = invoices.provider_id
      and purchases.reference = invoices.purchase_ref
    where invoices.provider_id = ${providerId} and invoices.customer_ref = ${customerRef}
      and invoices.status in ('open', 'uncollectible')
      and invoices.total - invoices.carried - invoices.paid - invoices.credited > 0
      and purchases.product_ref = ${productRef}
      and not (purchases.status in ('cancelled', 'expired', 'refunded') and ${chargesPart(sql, 'recurring')}
        and not ${chargesPart(sql, 'usage')} and not ${chargesItem(sql)})
    order by invoices.created_at, invoices.reference`
  return rows.map(({ reference }) => reference)
}

/**
 * Returns the references of the customer's open invoices that have an amount due, oldest first. Excludes an invoice for
 * a period that never begins because its purchase has ended: it becomes void.
 */
export async function listOpenInvoices(
  sql: Queryable,
  providerId: string,
  customerRef: string,
): Promise<string[]> {
  const rows = await sql<{ reference: string }[]>`
    select invoices.reference from invoices
    left join purchases on purchases.provider_id = invoices.provider_id
      and purchases.reference = invoices.purchase_ref
    where invoices.provider_id = ${providerId} and invoices.customer_ref = ${customerRef}
      and invoices.status = 'open'
      and invoices.total - invoices.carried - invoices.paid - invoices.credited > 0
      and not (coalesce(purchases.status, '') in ('cancelled', 'expired', 'refunded')
        and ${chargesPart(sql, 'recurring')} and not ${chargesPart(sql, 'usage')}
        and not ${chargesItem(sql)})
    order by invoices.created_at, invoices.reference`
  return rows.map(({ reference }) => reference)
}

function chargesPart(sql: Queryable, part: 'recurring' | 'usage') {
  return sql`exists (
    select from billed_periods as billed where billed.provider_id = invoices.provider_id
      and billed.invoice_ref = invoices.reference and billed.part = ${part})`
}

function chargesItem(sql: Queryable) {
  return sql`exists (
    select from invoice_lines as item where item.provider_id = invoices.provider_id
      and item.invoice_ref = invoices.reference and item.kind = 'item')`
}
