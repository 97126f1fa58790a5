import type { Queryable } from '@tollgate/platform/database/database'
import { lineKey } from './model/invoices.ts'
import type { LineKind } from './model/invoices.ts'

/**
 * Reads the amounts carried from earlier invoices, by each line of the invoice and the number of earlier invoices with the same
 * line.
 */
export async function readCarriedIn(sql: Queryable): Promise<ReadonlyMap<string, bigint>> {
  const rows = await sql<
    { purchase: string; kind: LineKind; start: Date | null; before: number; carried: string }[]
  >`
    with told as (
      select invoice.provider_id, invoice.reference, invoice.status, invoice.purchase_ref as purchase,
        line.kind, line.period_start as start,
        (dense_rank() over (
          partition by invoice.purchase_ref, line.kind, line.period_start
          order by invoice.created_at, invoice.reference
        ) - 1)::int as before
      from invoices as invoice
      join invoice_lines as line on line.provider_id = invoice.provider_id
        and line.invoice_ref = invoice.reference and line.kind not in ('carried_in', 'tax')
    )
    select purchase, told.kind, start, before, carried.amount::text as carried
    from told
    join invoice_lines as carried on carried.provider_id = told.provider_id
      and carried.invoice_ref = told.reference and carried.kind = 'carried_in'
    where status <> 'void'`
  return new Map(
    rows.map(({ purchase, kind, start, before, carried }) => {
      const key = lineKey(purchase, start === null ? { kind } : { kind, start: start.getTime() })
      return [`${key} ${before}`, BigInt(carried)]
    }),
  )
}
