import type { Queryable } from '@tollgate/platform/database/database'
import { lineKey } from './model/customer.ts'
import type { LineKind } from './model/invoices.ts'

/** What invoices took over from earlier ones, by each line beside it. */
export async function readCarriedIn(sql: Queryable): Promise<ReadonlyMap<string, bigint>> {
  const rows = await sql<
    { purchase: string; kind: LineKind; start: Date | null; carried: string }[]
  >`
    select invoice.purchase_ref as purchase, line.kind, line.period_start as start,
      carried.amount::text as carried
    from invoice_lines as carried
    join invoices as invoice on invoice.provider_id = carried.provider_id
      and invoice.reference = carried.invoice_ref
    join invoice_lines as line on line.provider_id = carried.provider_id
      and line.invoice_ref = carried.invoice_ref and line.kind <> 'carried_in'
    where carried.kind = 'carried_in' and invoice.status <> 'void'
    order by invoice.created_at`
  return new Map(
    rows.map(({ purchase, kind, start, carried }) => [
      lineKey(purchase, start === null ? { kind } : { kind, start: start.getTime() }),
      BigInt(carried),
    ]),
  )
}
