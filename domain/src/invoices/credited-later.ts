import type { Queryable } from '@tollgate/platform/database/database'
import { usageKinds } from '../coupons/discount-lines.ts'
import {
  decideCreditedLater,
  nothingCredited,
  type CreditedLater,
} from './decide-credited-later.ts'
import type { InvoiceWithLines } from './invoice.ts'
import { listBillsOfUsage } from './list-bills-of-usage.ts'

/**
 * Returns what later bills have credited of the usage that the invoice charges. The caller has locked the purchase, as every bill does,
 * so that no bill credits more meanwhile.
 */
export async function readCreditedLater(
  sql: Queryable,
  providerId: string,
  { reference, purchaseRef, lines }: Pick<InvoiceWithLines, 'reference' | 'purchaseRef' | 'lines'>,
): Promise<CreditedLater> {
  const starts = lines.flatMap(({ inputs, amountMinor, period }) =>
    usageKinds.has(inputs.kind) && amountMinor > 0n && period !== null ? [period.start] : [],
  )
  if (purchaseRef === null || starts.length === 0) return nothingCredited
  const isCredited = await hasCredit(sql, providerId, purchaseRef, reference, starts)
  if (!isCredited) return nothingCredited
  return decideCreditedLater(
    reference,
    await listBillsOfUsage(sql, providerId, purchaseRef, starts),
  )
}

/** Returns whether another bill, also a void one, has credited usage of one of the periods. */
async function hasCredit(
  sql: Queryable,
  providerId: string,
  purchaseRef: string,
  reference: string,
  starts: readonly Date[],
): Promise<boolean> {
  const rows = await sql`
    select 1 from invoices join invoice_lines as line on line.provider_id = invoices.provider_id
      and line.invoice_ref = reference
    where invoices.provider_id = ${providerId} and purchase_ref = ${purchaseRef}
      and reference <> ${reference} and line.kind = any(${[...usageKinds]}) and line.amount < 0
      and line.period_start in ${sql([...starts])}
    limit 1`
  return rows.length > 0
}
