import type { Queryable } from '@tollgate/platform/database/database'
import { microsOfDecimal } from '../money/decimal.ts'

export type BilledUsage = {
  /** All that was billed of the period, what came late included. 10^-6 units. */
  readonly usedMicros: bigint
  /** Left over from the period before, as it was priced with. */
  readonly carriedOverMicros: bigint
}

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
  const billed = new Map<number, BilledUsage>()
  if (periodStarts.length === 0) return billed
  const rows = await sql<BilledRow[]>`
    select period_start, kind, inputs->>'usedUnits' as used, inputs->>'lateUnits' as late,
      inputs->>'carriedOverUnits' as carried
    from invoices join invoice_lines on invoice_lines.provider_id = invoices.provider_id
      and invoice_ref = reference
    where invoices.provider_id = ${providerId} and purchase_ref = ${purchaseRef}
      and kind in ('usage', 'late_usage') and period_start in ${sql([...periodStarts])}
    order by kind = 'late_usage'`
  for (const { period_start: start, kind, used, late, carried } of rows) {
    const before = billed.get(start.getTime())
    if (kind === 'usage') {
      const carriedOverMicros = microsOfDecimal(carried)
      billed.set(start.getTime(), { usedMicros: microsOfDecimal(used), carriedOverMicros })
    } else if (before !== undefined) {
      const usedMicros = before.usedMicros + microsOfDecimal(late ?? '0')
      billed.set(start.getTime(), { ...before, usedMicros })
    }
  }
  return billed
}

type BilledRow = {
  readonly period_start: Date
  readonly kind: string
  readonly used: string
  readonly late: string | null
  readonly carried: string
}
