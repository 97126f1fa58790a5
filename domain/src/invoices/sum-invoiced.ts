import type { Queryable } from '@tollgate/platform/database/database'

/** What invoices charged in one currency, in minor units. */
export type InvoicedAmount = { readonly currency: string; readonly amountMinor: bigint }

type TimeRange = { readonly from: Date; readonly to: Date }

/**
 * Returns what a customer's issued invoices charge for plans and usage, by currency. A line belongs to the range in which its period
 * begins, or its invoice was issued if it has no period. Tax, amounts carried over from other invoices, bought credits and written-off
 * invoices are left out. Refunds and credit notes are not subtracted.
 */
export async function sumInvoiced(
  sql: Queryable,
  providerId: string,
  customerRef: string,
  { from, to }: TimeRange,
): Promise<InvoicedAmount[]> {
  const rows = await sql<{ currency: string; amount: string }[]>`
    select invoices.currency, sum(line.amount)::text as amount
    from invoices join invoice_lines line
      on line.provider_id = invoices.provider_id and line.invoice_ref = invoices.reference
    where invoices.provider_id = ${providerId} and invoices.customer_ref = ${customerRef}
      and invoices.status in ('open', 'paid', 'partly_refunded', 'refunded')
      and line.kind in (
        'recurring', 'add_on', 'setup_fee', 'one_time', 'usage', 'late_usage', 'minimum', 'proration', 'discount')
      and coalesce(line.period_start, invoices.issued_at) >= ${from}
      and coalesce(line.period_start, invoices.issued_at) < ${to}
    group by invoices.currency order by invoices.currency`
  return rows.map(({ currency, amount }) => ({ currency, amountMinor: BigInt(amount) }))
}
