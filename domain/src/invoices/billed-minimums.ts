import type { Queryable } from '@tollgate/platform/database/database'

/**
 * Returns what invoices have charged for the minimum of a purchase's periods, keyed by the start of the period in Unix milliseconds.
 * Void invoices count as well: their periods are not billed again.
 */
export async function listBilledMinimums(
  sql: Queryable,
  providerId: string,
  purchaseRef: string,
  periodStarts: readonly Date[],
): Promise<Map<number, bigint>> {
  if (periodStarts.length === 0) return new Map()
  const rows = await sql<{ period_start: Date; amount: string }[]>`
    select period_start, sum(amount)::text as amount
    from invoices join invoice_lines on invoice_lines.provider_id = invoices.provider_id
      and invoice_ref = reference
    where invoices.provider_id = ${providerId} and purchase_ref = ${purchaseRef}
      and kind = 'minimum' and period_start in ${sql([...periodStarts])}
    group by period_start`
  return new Map(rows.map((row) => [row.period_start.getTime(), BigInt(row.amount)]))
}
