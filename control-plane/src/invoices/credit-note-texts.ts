import type { CreditNote } from '@tollgate/domain/invoices/credit-notes'
import { documentNumberText, type InvoiceWithLines } from '@tollgate/domain/invoices/invoice'
import { formatMoney } from '@tollgate/domain/money/currencies'
import { isContained } from '@tollgate/domain/pricing/invoice-line'
import type { Environment } from '@tollgate/schemas/environment'
import { dateText } from './document-formats.ts'
import {
  buyerLines,
  periodDetails,
  sellerLines,
  saleFacts,
  taxNotes,
  taxTexts,
  titleText,
  type DocumentTexts,
  type LineTexts,
  type NamedText,
  type TaxAmounts,
} from './document-texts.ts'
import { documentText } from './document-words.ts'

export type PrintedCreditNote = {
  readonly note: CreditNote
  /** The invoice that the note corrects. */
  readonly invoice: InvoiceWithLines
}

/**
 * Returns the texts of a credit note. It names the same parties as the invoice that it corrects. Its amounts are what the customer
 * gets back.
 */
export function creditNoteTexts(
  { note, invoice }: PrintedCreditNote,
  environment: Environment,
): DocumentTexts {
  const { parties } = invoice
  return {
    title: titleText('creditNote', environment),
    seller: parties === null ? [] : sellerLines(parties),
    buyer: parties === null ? [invoice.customerRef] : buyerLines(parties),
    facts: factsOf(note, invoice, environment),
    lines: linesOf(note, invoice),
    sums: sumsOf(note, invoice),
    taxes: taxTexts(taxesOf(note, invoice), note.currency),
    payments: [],
    notes: notesOf(note, invoice, environment),
  }
}

function factsOf(
  { number, createdAt, voidedAt, reference }: CreditNote,
  invoice: InvoiceWithLines,
  environment: Environment,
): NamedText[] {
  const { issuedAt } = invoice
  return [
    [documentText('number'), documentNumberText('credit_note', number, environment)],
    [documentText('date'), dateText(createdAt)],
    [documentText('ofInvoice'), numberOf(invoice, environment)],
    ...(issuedAt === null ? [] : [[documentText('invoiceDate'), dateText(issuedAt)] as const]),
    ...(voidedAt === null ? [] : [[documentText('voidSince'), dateText(voidedAt)] as const]),
    ...saleFacts(invoice),
    [documentText('reference'), reference],
  ]
}

function numberOf({ number, reference }: InvoiceWithLines, environment: Environment): string {
  return number === null ? reference : documentNumberText('invoice', number, environment)
}

function linesOf(note: CreditNote, { lines }: InvoiceWithLines): LineTexts[] {
  return note.lines.flatMap(({ line: at, amountMinor }) => {
    const line = lines[at]
    if (line === undefined || line.inputs.kind === 'tax') return []
    const amount = formatMoney(amountMinor, note.currency)
    const { description } = line
    return [
      {
        description,
        details: periodDetails(line),
        quantities: ['1'],
        unitPrices: [amount],
        amount,
      },
    ]
  })
}

function taxesOf(note: CreditNote, { lines }: InvoiceWithLines): TaxAmounts[] {
  const creditedMinor = note.lines.reduce(
    (sum, { line, amountMinor }) => (lines[line]?.inputs.kind === 'tax' ? sum : sum + amountMinor),
    0n,
  )
  return note.lines.flatMap(({ line: at, amountMinor }) => {
    const line = lines[at]
    if (line?.inputs.kind !== 'tax') return []
    const baseMinor = isContained(line) ? creditedMinor - amountMinor : creditedMinor
    const { ratePerMille } = line.inputs
    return [{ text: line.description, ratePerMille, amountMinor, baseMinor }]
  })
}

function sumsOf(note: CreditNote, invoice: InvoiceWithLines): NamedText[] {
  const { currency, totalMinor } = note
  const isIncluded = invoice.lines.some((line) => line.inputs.kind === 'tax' && isContained(line))
  const money = (amountMinor: bigint): string => formatMoney(amountMinor, currency)
  const taxes = taxesOf(note, invoice)
  const total: NamedText = [documentText('totalCredited', { currency }), money(totalMinor)]
  if (isIncluded) {
    const contained = taxes.map(({ text, amountMinor }): NamedText => [
      documentText('includedTax', { tax: text }),
      money(amountMinor),
    ])
    return [...contained, total]
  }
  const added = taxes.flatMap(({ text, amountMinor }): NamedText[] => [
    [documentText('subtotal'), money(totalMinor - amountMinor)],
    [text, money(amountMinor)],
  ])
  return [...added, total]
}

function notesOf(
  { settles, reason, voidedAt }: CreditNote,
  invoice: InvoiceWithLines,
  environment: Environment,
): string[] {
  const settlement = {
    invoice: documentText('settlesInvoice', { number: numberOf(invoice, environment) }),
    balance: documentText('settlesBalance'),
    refund: documentText('settlesRefund'),
  }[settles]
  return [
    ...(reason === null ? [] : [documentText('reason', { reason })]),
    voidedAt === null ? settlement : documentText('noteIsVoid'),
    ...taxNotes(invoice.lines),
  ]
}
