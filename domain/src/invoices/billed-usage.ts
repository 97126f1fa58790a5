import type { Queryable } from '@tollgate/platform/database/database'
import { sumBilledUsage, type BilledUsage, type UsageLineRow } from './sum-billed-usage.ts'

/**
 * How much usage of a purchase's periods stands on invoices, by the start of the period in Unix milliseconds; also on void
 * ones: that it was not to be paid does not make it new. A period whose usage was not billed yet is not there. What was
 * used beyond it is late usage.
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
