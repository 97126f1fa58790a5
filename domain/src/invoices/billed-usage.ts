import type { Queryable } from '@tollgate/platform/database/database'
import { microsOfDecimal } from '../money/decimal.ts'

export type BilledUsage = {
  /** All that was billed of the period, what came late included. 10^-6 units. */
  readonly usedMicros: bigint
  /** Left over from the period before, as it was priced with. */
  readonly carriedOverMicros: bigint
  /** Used before by other purchases that shared the allowance, as it was priced with, late usage included. */
  readonly usedBeforeMicros: bigint
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
      inputs->>'carriedOverUnits' as carried, inputs->>'usedBeforeUnits' as before,
      inputs->>'lateBeforeUnits' as late_before
    from invoices join invoice_lines on invoice_lines.provider_id = invoices.provider_id
      and invoice_ref = reference
    where invoices.provider_id = ${providerId} and purchase_ref = ${purchaseRef}
      and kind in ('usage', 'late_usage') and period_start in ${sql([...periodStarts])}
    order by kind = 'late_usage'`
  for (const row of rows) {
    const start = row.period_start.getTime()
    const known = billed.get(start)
    if (row.kind === 'usage') {
      billed.set(start, {
        usedMicros: microsOfDecimal(row.used),
        carriedOverMicros: microsOfDecimal(row.carried),
        usedBeforeMicros: microsOfDecimal(row.before ?? '0'),
      })
    } else if (known !== undefined) {
      billed.set(start, {
        ...known,
        usedMicros: known.usedMicros + microsOfDecimal(row.late ?? '0'),
        usedBeforeMicros: known.usedBeforeMicros + microsOfDecimal(row.late_before ?? '0'),
      })
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
  readonly before: string | null
  readonly late_before: string | null
}
