import { documentNumberText } from '@tollgate/domain/invoices/invoice'
import type { Environment } from '@tollgate/schemas/environment'
import { creditNoteTexts, type PrintedCreditNote } from './credit-note-texts.ts'
import { invoiceTexts, type PrintedInvoice } from './invoice-texts.ts'
import { renderDocument, type Brand } from './render-document.ts'

/** A document as a file for download. */
export type RenderedDocument = { readonly fileName: string; readonly pdf: Buffer }

export async function renderInvoice(
  printed: PrintedInvoice,
  brand: Brand,
  environment: Environment,
): Promise<RenderedDocument> {
  const { number, reference, updatedAt } = printed.invoice
  const name = number === null ? reference : documentNumberText('invoice', number, environment)
  const texts = invoiceTexts(printed, environment)
  const pdf = await renderDocument({ name, changedAt: updatedAt, texts, brand })
  return { fileName: `${name}.pdf`, pdf }
}

export async function renderCreditNote(
  printed: PrintedCreditNote,
  brand: Brand,
  environment: Environment,
): Promise<RenderedDocument> {
  const { number, createdAt, voidedAt } = printed.note
  const name = documentNumberText('credit_note', number, environment)
  const texts = creditNoteTexts(printed, environment)
  const pdf = await renderDocument({ name, changedAt: voidedAt ?? createdAt, texts, brand })
  return { fileName: `${name}.pdf`, pdf }
}
