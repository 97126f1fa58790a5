import type { Queryable } from '@tollgate/platform/database/database'
import { sumBilledUsage, type BilledUsage, type UsageLineRow } from './sum-billed-usage.ts'

/**
 * Returns the invoiced usage of a purchase's periods, keyed by the start of the period in Unix milliseconds. Void
 * invoices count as well: their usage was not paid, but must not be billed again. A period whose usage is not billed
 * yet is absent. Usage beyond the returned amount is late usage.
 */
export async function listBilledUsage(
  sql: Queryable,
  providerId: string,
  purchaseRef: string,
  periodStarts: readonly Date[],
): Promise<Map<number, BilledUsage>> {
  if (periodStarts.length === 0) return new Map()
  const rows = await sql<UsageLineRow[]>`
    select period_start, kind, inputs->>'usedUnits' as used, inputs->>'lateUnits' as late,
      inputs->>'carriedOverUnits' as carried, inputs->>'usedBeforeUnits' as before,
      inputs->>'lateBeforeUnits' as late_before
    from invoices join invoice_lines on invoice_lines.provider_id = invoices.provider_id
      and invoice_ref = reference
    where invoices.provider_id = ${providerId} and purchase_ref = ${purchaseRef}
      and kind in ('usage', 'late_usage') and period_start in ${sql([...periodStarts])}
    order by kind = 'late_usage'`
  return sumBilledUsage(rows)
}
