import type { Queryable } from '@tollgate/platform/database/database'
import {
  discountOn,
  startOfUsage,
  usageKinds,
  type DiscountedUsage,
} from '../coupons/discount-lines.ts'
import { sumOf } from '../money/amounts.ts'
import type { InvoiceLine } from '../pricing/invoice-line.ts'
import { listLinesByInvoice } from './lines.ts'

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
  const starts = new Set(
    lines.flatMap((line) => (line.amountMinor < 0n ? (startOfUsage(line) ?? []) : [])),
  )
  if (starts.size === 0) return new Map()
  const dates = [...starts].map((start) => new Date(start))
  const rows = await sql<{ reference: string }[]>`
    select distinct reference
    from invoices join invoice_lines as line on line.provider_id = invoices.provider_id
      and line.invoice_ref = reference
    where invoices.provider_id = ${providerId} and purchase_ref = ${purchaseRef}
      and line.kind = any(${[...usageKinds]}) and line.period_start in ${sql(dates)}`
  const invoices = rows.map(({ reference }) => ({ providerId, reference }))
  const bills = [...(await listLinesByInvoice(sql, invoices)).values()]
  return new Map([...starts].map((start) => [start, usageOf(bills, start)]))
}

function usageOf(bills: readonly (readonly InvoiceLine[])[], start: number): DiscountedUsage {
  const isOfPeriod = (line: InvoiceLine): boolean => startOfUsage(line) === start
  const amounts = bills.flatMap((lines) => lines.filter(isOfPeriod))
  const takenBack = bills.flatMap((lines) => lines.filter((line) => isTakenBack(line, start)))
  const off = bills.map((lines) => discountOn(lines, isOfPeriod))
  return {
    grossMinor: sumOf(amounts.map(({ amountMinor }) => amountMinor)),
    offMinor: sumOf(off) - sumOf(takenBack.map(({ amountMinor }) => amountMinor)),
  }
}

/** Returns whether the line takes back what discounts had taken off usage of the period that is credited. */
function isTakenBack({ inputs, period }: InvoiceLine, start: number): boolean {
  return inputs.kind === 'discount' && inputs.by === 'credit' && period?.start.getTime() === start
}
