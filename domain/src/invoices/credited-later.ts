import type { Queryable } from '@tollgate/platform/database/database'
import { usageKinds } from '../coupons/discount-lines.ts'
import { sumTakenFromBalance } from '../money-ledger/ledger.ts'
import { sumCredited, sumCreditedToBalance } from './credit-notes.ts'
import {
  decideCreditedLater,
  type BillOfUsage,
  type CreditedLater,
} from './decide-credited-later.ts'
import type { Invoice, InvoiceWithLines } from './invoice.ts'
import { listLines } from './lines.ts'
import { findInvoice } from './repository.ts'
import { dueMinor } from './transitions.ts'

/**
 * Returns what later bills have credited of the usage that the invoice charges. The caller has locked the purchase, as every bill does,
 * so that no bill credits more meanwhile.
 */
export async function readCreditedLater(
  sql: Queryable,
  providerId: string,
  { reference, purchaseRef, lines }: InvoiceWithLines,
): Promise<CreditedLater> {
  const starts = lines.flatMap(({ inputs, period }) =>
    usageKinds.has(inputs.kind) && period !== null ? [period.start] : [],
  )
  if (purchaseRef === null || starts.length === 0) return { amountMinor: 0n, taxMinor: 0n }
  const refs = await listBillsOfPeriods(sql, providerId, purchaseRef, starts)
  if (!refs.some((each) => each.hasCredit && each.reference !== reference)) {
    return { amountMinor: 0n, taxMinor: 0n }
  }
  const bills: BillOfUsage[] = []
  for (const each of refs) bills.push(await readBill(sql, providerId, each.reference))
  return decideCreditedLater(reference, bills)
}

/** Returns the bills of the purchase with usage of the periods, oldest first. */
async function listBillsOfPeriods(
  sql: Queryable,
  providerId: string,
  purchaseRef: string,
  starts: readonly Date[],
): Promise<{ readonly reference: string; readonly hasCredit: boolean }[]> {
  const rows = await sql<{ reference: string; has_credit: boolean }[]>`
    select reference, bool_or(line.amount < 0) as has_credit
    from invoices join invoice_lines as line on line.provider_id = invoices.provider_id
      and line.invoice_ref = reference
    where invoices.provider_id = ${providerId} and purchase_ref = ${purchaseRef}
      and line.kind = any(${[...usageKinds]}) and line.period_start in ${sql([...starts])}
    group by reference, created_at order by created_at, reference`
  return rows.map((row) => ({ reference: row.reference, hasCredit: row.has_credit }))
}

async function readBill(
  sql: Queryable,
  providerId: string,
  reference: string,
): Promise<BillOfUsage> {
  const invoice = (await findInvoice(sql, providerId, reference))!
  const takenMinor = await sumTakenFromBalance(sql, providerId, reference)
  return {
    reference,
    isVoid: invoice.status === 'void',
    lines: await listLines(sql, providerId, reference),
    credited: await sumCredited(sql, providerId, reference),
    lostMinor: lostMinor(invoice),
    takenMinor:
      takenMinor === 0n
        ? 0n
        : takenMinor - (await sumCreditedToBalance(sql, providerId, reference)),
  }
}

function lostMinor(invoice: Invoice): bigint {
  return invoice.status === 'uncollectible' ? dueMinor(invoice) : 0n
}
