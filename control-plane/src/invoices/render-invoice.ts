import { documentNumberText } from '@tollgate/domain/invoices/invoice'
import type { Environment } from '@tollgate/schemas/environment'
import { creditNoteTexts, type PrintedCreditNote } from './credit-note-texts.ts'
import { invoiceTexts, type PrintedInvoice } from './invoice-texts.ts'
import type { Brand, DocumentFile } from './render-document.ts'

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
  return renderFile({ name, changedAt: updatedAt, texts, brand })
}

export async function renderCreditNote(
  printed: PrintedCreditNote,
  brand: Brand,
  environment: Environment,
): Promise<RenderedDocument> {
  const { number, createdAt, voidedAt } = printed.note
  const name = documentNumberText('credit_note', number, environment)
  const texts = creditNoteTexts(printed, environment)
  return renderFile({ name, changedAt: voidedAt ?? createdAt, texts, brand })
}

async function renderFile(file: DocumentFile): Promise<RenderedDocument> {
  // Imported here, because the libraries for PDF and fonts would make each start of the service 0.2 s longer.
  const { renderDocument } = await import('./render-document.ts')
  return { fileName: `${file.name}.pdf`, pdf: await renderDocument(file) }
}
