import type { Queryable } from '@tollgate/platform/database/database'
import { microsOfDecimal } from '../money/decimal.ts'

export type BilledUsage = {
  /** All that was billed of the period, what came late included. 10^-6 units. */
  readonly usedMicros: bigint
  /** Left over from the period before, as it was priced with. */
  readonly carriedOverMicros: bigint
}

/**
 * How much usage of a period stands on invoices, also on void ones: that it was not to be paid does not make it new.
 * Undefined where the period's usage was not billed yet. What was used beyond it is late usage.
 */
export async function readBilledUsage(
  sql: Queryable,
  providerId: string,
  purchaseRef: string,
  periodStart: Date,
): Promise<BilledUsage | undefined> {
  const rows = await sql<{ kind: string; used: string; late: string | null; carried: string }[]>`
    select kind, inputs->>'usedUnits' as used, inputs->>'lateUnits' as late,
      inputs->>'carriedOverUnits' as carried
    from invoices join invoice_lines on invoice_lines.provider_id = invoices.provider_id
      and invoice_ref = reference
    where invoices.provider_id = ${providerId} and purchase_ref = ${purchaseRef}
      and kind in ('usage', 'late_usage') and period_start = ${periodStart}`
  const first = rows.find(({ kind }) => kind === 'usage')
  if (first === undefined) return undefined
  const late = rows.map((row) => microsOfDecimal(row.late ?? '0'))
  return {
    usedMicros: late.reduce((sum, micros) => sum + micros, microsOfDecimal(first.used)),
    carriedOverMicros: microsOfDecimal(first.carried),
  }
}
