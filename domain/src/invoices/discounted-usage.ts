import type { Queryable } from '@tollgate/platform/database/database'
import { discountedKinds, usageKinds, type DiscountedUsage } from '../coupons/discount-lines.ts'
import type { InvoiceLine } from '../pricing/invoice-line.ts'

/**
 * Returns the billed usage and its discounts for each period of which the lines credit usage. Amounts that earlier lines credited are
 * subtracted from both. The map is keyed by the start of the period in Unix milliseconds.
 */
export async function listDiscountedUsage(
  sql: Queryable,
  providerId: string,
  purchaseRef: string,
  lines: readonly InvoiceLine[],
): Promise<Map<number, DiscountedUsage>> {
  const starts = lines.flatMap(({ inputs, amountMinor, period }) =>
    usageKinds.has(inputs.kind) && amountMinor < 0n && period !== null ? [period.start] : [],
  )
  if (starts.length === 0) return new Map()
  const rows = await sql<{ period_start: Date; gross: string; off: string }[]>`
    select period_start, coalesce(sum(amount) filter (where kind <> 'discount'), 0)::text as gross,
      sum(case
        when kind = 'discount' then -amount
        when amount > 0 then ceil(of_invoice.off * amount / of_invoice.base)
        else 0 end)::text as off
    from invoices join invoice_lines on invoice_lines.provider_id = invoices.provider_id
      and invoice_ref = reference
    cross join lateral (
      select coalesce(-sum(own.amount) filter (where own.kind = 'discount'), 0) as off,
        sum(own.amount) filter (where own.kind <> 'discount') as base
      from invoice_lines as own
      where own.provider_id = ${providerId} and own.invoice_ref = invoices.reference
        and (own.kind = 'discount' and own.inputs->>'by' in ('percent', 'amount')
          or own.amount > 0 and own.kind = any(${[...discountedKinds]}))
    ) as of_invoice
    where invoices.provider_id = ${providerId} and purchase_ref = ${purchaseRef}
      and (kind = any(${[...usageKinds]})
        or kind = 'discount' and inputs->>'by' = 'credit')
      and period_start in ${sql(starts)}
    group by period_start`
  return new Map(
    rows.map((row) => [
      row.period_start.getTime(),
      { grossMinor: BigInt(row.gross), offMinor: BigInt(row.off) },
    ]),
  )
}
