import type { Queryable } from '@tollgate/platform/database/database'
import { usageKinds } from '../coupons/discount-lines.ts'
import type { BillOfUsage } from './bill-of-usage.ts'
import { sumCreditedByInvoice } from './credit-notes.ts'
import { listLinesByInvoice } from './lines.ts'
import { lossesOfBills } from './losses-of-bills.ts'

type BillRow = {
  readonly reference: string
  readonly is_void: boolean
  readonly lost: string
  readonly taken: string
}

/**
 * Returns the bills of the purchase with usage of the given periods, and of all periods of which a bill has credited usage. They are in
 * the order in which they were made. Invoice numbers give this order, because the purchase is locked while its bills are issued. Drafts
 * have none, and charge and credit nothing.
 */
export async function listBillsOfUsage(
  sql: Queryable,
  providerId: string,
  purchaseRef: string,
  periodStarts: readonly Date[],
): Promise<BillOfUsage[]> {
  const kinds = [...usageKinds]
  const starts = periodStarts.map((start) => start.toISOString())
  const rows = await sql<BillRow[]>`
    with usage as materialized (
      select invoices.reference, number, status, total - carried - paid - credited as due,
        line.period_start, line.amount
      from invoices join invoice_lines as line on line.provider_id = invoices.provider_id
        and line.invoice_ref = invoices.reference
      where invoices.provider_id = ${providerId} and invoices.purchase_ref = ${purchaseRef}
        and invoices.number is not null and line.kind = any(${kinds})
    ), bills as materialized (
      select distinct reference, number, status, due from usage
      where period_start = any(${starts}::timestamptz[])
        or period_start in (select period_start from usage where amount < 0)
    ), ${lossesOfBills(sql, providerId)}
    select reference, status = 'void' as is_void, taken::text, lost::text
    from losses order by number`
  const invoices = rows.map(({ reference }) => ({ providerId, reference }))
  const lines = await listLinesByInvoice(sql, invoices)
  const credited = await sumCreditedByInvoice(
    sql,
    providerId,
    rows.map(({ reference }) => reference),
  )
  return rows.map(({ reference, is_void: isVoid, lost, taken }) => ({
    ...{ reference, isVoid, lostMinor: BigInt(lost), takenMinor: BigInt(taken) },
    lines: lines.get(reference) ?? [],
    credited: credited.get(reference) ?? new Map(),
  }))
}
