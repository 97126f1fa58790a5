import { listCreditNotes } from '@tollgate/domain/invoices/credit-notes'
import type { InvoiceParties } from '@tollgate/domain/invoices/invoice'
import { listLines } from '@tollgate/domain/invoices/lines'
import { listPaymentsOf } from '@tollgate/domain/payments/payments'
import { findInvoice } from '@tollgate/domain/invoices/repository'
import type { Caller } from '../access/caller.ts'
import { read, type ReadParts } from '../access/read.ts'
import { requireProvider } from '../access/require.ts'
import type { PrintedInvoice } from './invoice-texts.ts'

/** Reads an invoice with its lines, payments and parties for printing. Returns undefined if it does not exist. */
export async function readInvoice(
  stores: ReadParts,
  caller: Caller,
  reference: string,
): Promise<PrintedInvoice | undefined> {
  const { providerId } = caller
  const found = await read(stores, caller, async (sql) => {
    const invoice = await findInvoice(sql, providerId, reference)
    if (invoice === undefined) return undefined
    const lines = await listLines(sql, providerId, reference)
    const creditNotes = await listCreditNotes(sql, providerId, reference)
    const payments = await listPaymentsOf(sql, providerId, [reference])
    return { invoice, lines, creditNotes, payments: payments.get(reference) ?? [] }
  })
  if (found === undefined) return undefined
  const { invoice, lines, creditNotes, payments } = found
  const parties = await withSellerContact(stores, caller, invoice.parties)
  return { invoice: { ...invoice, lines, parties }, creditNotes, payments }
}

/** Adds the contact of the seller. A seller without a support address is reached at its own address, as on the hosted pages. */
async function withSellerContact(
  stores: ReadParts,
  caller: Caller,
  parties: InvoiceParties | null,
): Promise<InvoiceParties | null> {
  if (parties === null || parties.seller.supportEmail !== null) return parties
  const { email } = await requireProvider(stores, caller)
  return { ...parties, seller: { ...parties.seller, supportEmail: email } }
}
