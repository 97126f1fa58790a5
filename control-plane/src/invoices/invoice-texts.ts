import type { CreditNote } from '@tollgate/domain/invoices/credit-notes'
import { creditedTaxOf } from '@tollgate/domain/invoices/decide-credit'
import { worstDispute } from '@tollgate/domain/invoices/disputes'
import { documentNumberText, type InvoiceWithLines } from '@tollgate/domain/invoices/invoice'
import type { InvoicePayment } from '@tollgate/domain/payments/payments'
import { dueMinor } from '@tollgate/domain/invoices/transitions'
import { formatMoney } from '@tollgate/domain/money/currencies'
import { isContained, type InvoiceLine } from '@tollgate/domain/pricing/invoice-line'
import type { TaxCharge } from '@tollgate/domain/pricing/line-inputs'
import { netBaseOf } from '@tollgate/domain/pricing/tax-line'
import type { Environment } from '@tollgate/schemas/environment'
import type { InvoiceDispute, InvoiceStatus } from '@tollgate/schemas/http/invoices'
import { cardText, cardWithExpiryText, dateText } from './document-formats.ts'
import {
  buyerLines,
  sellerLines,
  saleFacts,
  taxNotes,
  taxTexts,
  titleText,
  type DocumentTexts,
  type NamedText,
  type PaymentTexts,
  type TaxAmounts,
} from './document-texts.ts'
import { documentText } from './document-words.ts'
import { lineTexts } from './line-texts.ts'

export type PrintedInvoice = {
  readonly invoice: InvoiceWithLines
  readonly creditNotes: readonly CreditNote[]
  readonly payments: readonly InvoicePayment[]
}

export function invoiceTexts(
  { invoice, creditNotes, payments }: PrintedInvoice,
  environment: Environment,
): DocumentTexts {
  const { number, issuedAt, paidAt, reference, parties, currency, lines } = invoice
  const dueAt = invoice.dueAt ?? issuedAt
  const facts: (readonly [string, string | null])[] = [
    [
      documentText('number'),
      number === null ? null : documentNumberText('invoice', number, environment),
    ],
    [documentText('date'), issuedAt === null ? null : dateText(issuedAt)],
    // An invoice without a due date is charged as soon as it is issued, so it is due on that day.
    [documentText('dueDate'), dueAt === null ? null : dateText(dueAt)],
    [documentText('status'), statusText(invoice, payments)],
    [documentText('paidOn'), paidAt === null || invoice.paidMinor === 0n ? null : dateText(paidAt)],
    ...saleFacts(invoice),
    [documentText('reference'), reference],
  ]
  return {
    // An invoice that states when and how it was paid is also a receipt.
    title: titleText(invoice.paidMinor > 0n ? 'receipt' : 'invoice', environment),
    seller: parties === null ? [] : sellerLines(parties),
    buyer: parties === null ? [invoice.customerRef] : buyerLines(parties),
    facts: facts.flatMap(([name, value]) => (value === null ? [] : [[name, value] as const])),
    lines: lines
      .filter(({ inputs }) => inputs.kind !== 'tax')
      .map((line) => lineTexts(line, currency)),
    sums: sumsOf(invoice, payments),
    taxes: taxTexts(taxesOf(lines), currency),
    payments: payments.map((payment) => paymentTexts(payment, currency)),
    notes: [
      ...taxNotes(lines),
      ...payments.flatMap((payment) => disputeTexts(payment, currency)),
      ...creditNotes.map((note) => creditNoteText(note, invoice, environment)),
    ],
  }
}

function statusText(
  { status }: Pick<InvoiceWithLines, 'status'>,
  payments: readonly InvoicePayment[],
): string {
  const words: Readonly<Record<InvoiceStatus, string>> = {
    draft: documentText('draft'),
    open: documentText('open'),
    paid: documentText('paid'),
    void: documentText('void'),
    uncollectible: documentText('uncollectible'),
    partly_refunded: documentText('partlyRefunded'),
    refunded: documentText('refunded'),
  }
  // A disputed payment counts as paid only after the bank has decided in the seller's favor.
  const disputeWords: Readonly<Partial<Record<InvoiceDispute, string>>> = {
    open: documentText('disputed'),
    lost: documentText('disputedAndTakenBack'),
  }
  return disputeWords[worstDispute(payments) ?? 'won'] ?? words[status]
}

function paymentTexts(
  { paidAt, paidWith, amountMinor }: InvoicePayment,
  currency: string,
): PaymentTexts {
  return {
    date: dateText(paidAt),
    method: paidWith === null ? documentText('otherMethod') : cardWithExpiryText(paidWith),
    amount: formatMoney(amountMinor, currency),
  }
}

function sumsOf(invoice: InvoiceWithLines, payments: readonly InvoicePayment[]): NamedText[] {
  const { currency, totalMinor, carriedMinor, creditedMinor, paidMinor, refundedMinor, lines } =
    invoice
  const lost = payments.filter(({ dispute }) => dispute?.status === 'lost')
  const lostMinor = lost.reduce((sum, { dispute }) => sum + (dispute?.amountMinor ?? 0n), 0n)
  const isOwed = invoice.status !== 'void' && invoice.status !== 'draft'
  const taken: [string, bigint][] = [
    [documentText('toNextInvoice'), -carriedMinor],
    [documentText('creditNotes'), -creditedMinor],
    [documentText('paid'), -paidMinor],
    [documentText('refunded'), refundedMinor],
    [documentText('takenBack'), lostMinor],
  ]
  const money = (amountMinor: bigint): string => formatMoney(amountMinor, currency)
  const added = taxesOf(lines.filter((line) => !isContained(line)))
  const contained = taxesOf(lines.filter(isContained))
  return [
    ...added.flatMap(({ text, amountMinor }): NamedText[] => [
      [documentText('subtotal'), money(totalMinor - amountMinor)],
      [text, money(amountMinor)],
    ]),
    [documentText('total', { currency }), money(totalMinor)],
    ...contained.map(({ text, amountMinor }): NamedText => [
      documentText('includedTax', { tax: text }),
      money(amountMinor),
    ]),
    ...taken.flatMap(([name, amountMinor]): NamedText[] =>
      amountMinor === 0n ? [] : [[name, money(amountMinor)]],
    ),
    [documentText('amountDue'), money(isOwed ? dueMinor(invoice) : 0n)],
  ]
}

function taxesOf(lines: readonly InvoiceLine[]): TaxAmounts[] {
  return lines.flatMap(({ inputs, description, amountMinor }) =>
    inputs.kind === 'tax' ? [taxOf(inputs, description, amountMinor)] : [],
  )
}

function taxOf(inputs: TaxCharge, text: string, amountMinor: bigint): TaxAmounts {
  const { ratePerMille } = inputs
  return { text, ratePerMille, amountMinor, baseMinor: netBaseOf(inputs, amountMinor) }
}

/** Returns the text about a dispute of the payment. A dispute that was won leaves the invoice unchanged and needs no text. */
function disputeTexts({ dispute, paidWith }: InvoicePayment, currency: string): string[] {
  if (dispute === null || dispute.status === 'won') return []
  const amount = formatMoney(dispute.amountMinor, currency)
  const payment =
    paidWith === null
      ? amount
      : documentText('paymentWithCard', { amount, card: cardText(paidWith) })
  return [documentText(dispute.status === 'open' ? 'disputeOpen' : 'disputeLost', { payment })]
}

function creditNoteText(
  note: CreditNote,
  { lines }: InvoiceWithLines,
  environment: Environment,
): string {
  const { number, totalMinor, currency, createdAt, reason, voidedAt } = note
  const taxMinor = creditedTaxOf(note, lines)
  return documentText('creditNoteOfInvoice', {
    number: documentNumberText('credit_note', number, environment),
    date: dateText(createdAt),
    amount: formatMoney(totalMinor, currency),
    tax:
      taxMinor === 0n
        ? ''
        : documentText('creditNoteTax', { amount: formatMoney(taxMinor, currency) }),
    reason: reason === null ? '' : documentText('creditNoteReason', { reason }),
    void: voidedAt === null ? '' : documentText('creditNoteVoid', { date: dateText(voidedAt) }),
  })
}
