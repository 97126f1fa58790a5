import type { Queryable } from '@tollgate/platform/database/database'

export type DebtsOf = {
  /** The customer's own reference. */
  readonly customerRef: string
  readonly productRef: string
}

/**
 * References of the customer's invoices for the product that are issued and not paid, the oldest first. An invoice for a
 * period that never begins, because its purchase has ended, is not owed: it becomes void.
 */
export async function listDebts(
  sql: Queryable,
  providerId: string,
  { customerRef, productRef }: DebtsOf,
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
        and not ${chargesPart(sql, 'usage')})
    order by invoices.created_at, invoices.reference`
  return rows.map(({ reference }) => reference)
}

/**
 * Invoices of the customer that are issued, and not paid or given up, the oldest first. An invoice for a period that never
 * begins, because its purchase has ended, is not among them: it becomes void.
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
        and ${chargesPart(sql, 'recurring')} and not ${chargesPart(sql, 'usage')})
    order by invoices.created_at, invoices.reference`
  return rows.map(({ reference }) => reference)
}

function chargesPart(sql: Queryable, part: 'recurring' | 'usage') {
  return sql`exists (
    select from billed_periods as billed where billed.provider_id = invoices.provider_id
      and billed.invoice_ref = invoices.reference and billed.part = ${part})`
}
