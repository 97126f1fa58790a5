import type { Queryable } from '@tollgate/platform/database/database'
import { listCreditNotes } from '@tollgate/domain/invoices/credit-notes'
import { listLines } from '@tollgate/domain/invoices/lines'
import { listPaymentsOf } from '@tollgate/domain/invoices/payments'
import { findInvoice } from '@tollgate/domain/invoices/repository'
import type { PrintedInvoice } from './invoice-texts.ts'

/** An invoice with all that is told of it. */
export async function readInvoice(
  sql: Queryable,
  providerId: string,
  reference: string,
): Promise<PrintedInvoice | undefined> {
  const invoice = await findInvoice(sql, providerId, reference)
  if (invoice === undefined) return undefined
  const lines = await listLines(sql, providerId, reference)
  const creditNotes = await listCreditNotes(sql, providerId, reference)
  const payments = await listPaymentsOf(sql, providerId, [reference])
  return {
    invoice: { ...invoice, lines },
    creditNotes,
    payments: payments.get(reference) ?? [],
  }
}
