import type { Queryable } from '@tollgate/platform/database/database'
import type { UnfinishedCharges } from './model/customer.ts'
import { lineKey } from './model/invoices.ts'
import type { LineKind } from './model/invoices.ts'

/**
 * Reads the charges that a process left undone when it died after billing usage. They are not found as due again, so other
 * processes make them later.
 */
export async function readUnfinishedCharges(sql: Queryable): Promise<UnfinishedCharges> {
  const lines = await sql<{ purchase: string; kind: LineKind; start: Date; chargedAt: Date }[]>`
    select invoice.purchase_ref as purchase, line.kind, line.period_start as start,
      invoice.next_charge_at as "chargedAt"
    from invoices as invoice
    join invoice_lines as line on line.provider_id = invoice.provider_id
      and line.invoice_ref = invoice.reference and line.period_start is not null
    where invoice.status = 'open' and invoice.failed_charges = 0
      and invoice.next_charge_at is not null`
  const charges = lines.map(
    ({ purchase, kind, start, chargedAt }) =>
      [lineKey(purchase, { kind, start: start.getTime() }), chargedAt.getTime()] as const,
  )
  return { charges: new Map(charges) }
}
