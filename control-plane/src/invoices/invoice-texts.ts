import type { CreditNote } from '@tollgate/domain/invoices/credit-notes'
import {
  documentNumberText,
  type InvoiceParties,
  type InvoiceWithLines,
} from '@tollgate/domain/invoices/invoice'
import { creditedTaxOf } from '@tollgate/domain/invoices/decide-credit'
import { worstDispute } from '@tollgate/domain/invoices/disputes'
import type { InvoicePayment } from '@tollgate/domain/invoices/payments'
import { dueMinor } from '@tollgate/domain/invoices/transitions'
import { formatMoney } from '@tollgate/domain/money/currencies'
import type { PaidWith } from '@tollgate/domain/payments/payment-intent'
import { isContained, type InvoiceLine } from '@tollgate/domain/pricing/invoice-line'
import type { TaxCharge } from '@tollgate/domain/pricing/line-inputs'
import { netBaseOf } from '@tollgate/domain/pricing/tax-line'
import type { Environment } from '@tollgate/schemas/environment'
import type { InvoiceDispute, InvoiceStatus } from '@tollgate/schemas/http/invoices'
import { expiryText } from './card-expiry.ts'
import { lateUsageTexts, unitsText, usageTexts } from './usage-texts.ts'

/** All that stands on an invoice's pages, as people read it. */
export type InvoiceTexts = {
  readonly title: string
  readonly seller: readonly string[]
  readonly buyer: readonly string[]
  /** Name and value. */
  readonly facts: readonly (readonly [name: string, value: string])[]
  readonly lines: readonly LineTexts[]
  /** The last one is what is due. */
  readonly sums: readonly (readonly [name: string, value: string])[]
  readonly notes: readonly string[]
}

export type LineTexts = {
  readonly description: string
  /** How it was counted and priced, line by line. */
  readonly details: readonly string[]
  readonly period: string
  readonly amount: string
}

export type PrintedInvoice = {
  readonly invoice: InvoiceWithLines
  readonly creditNotes: readonly CreditNote[]
  readonly payments: readonly InvoicePayment[]
}

const statusWords: Readonly<Record<InvoiceStatus, string>> = {
  draft: 'Draft',
  open: 'Open',
  paid: 'Paid',
  void: 'Void',
  uncollectible: 'Uncollectible',
  partly_refunded: 'Partly refunded',
  refunded: 'Refunded',
}

/** In place of the status: what is disputed counts as paid only once the bank has decided so. */
const disputeWords: Readonly<Partial<Record<InvoiceDispute, string>>> = {
  open: 'Disputed',
  lost: 'Disputed, taken back by the bank',
}

export function invoiceTexts(
  { invoice, creditNotes, payments }: PrintedInvoice,
  environment: Environment,
): InvoiceTexts {
  const { number, status, issuedAt, paidAt, reference, parties } = invoice
  const facts: [string, string | null][] = [
    ['Number', number === null ? null : documentNumberText('invoice', number, environment)],
    ['Date', issuedAt === null ? null : dateText(issuedAt)],
    ['Status', disputeWords[worstDispute(payments) ?? 'won'] ?? statusWords[status]],
    ['Paid on', paidAt === null || invoice.paidMinor === 0n ? null : dateText(paidAt)],
    ...payments.map(({ paidWith }): [string, string | null] => [
      'Paid with',
      paidWith === null ? null : cardWithExpiryText(paidWith),
    ]),
    ['Reference', reference],
  ]
  return {
    title: titleOf(invoice, environment),
    seller: parties === null ? [] : sellerLines(parties),
    buyer: parties === null ? [invoice.customerRef] : buyerLines(parties),
    facts: facts.flatMap(([name, value]) => (value === null ? [] : [[name, value] as const])),
    lines: invoice.lines
      .filter(({ inputs }) => inputs.kind !== 'tax')
      .map((line) => lineTexts(line, invoice.currency)),
    sums: sumsOf(invoice, payments),
    notes: [
      ...taxNotes(invoice),
      ...payments.flatMap((payment) => disputeTexts(payment, invoice.currency)),
      ...creditNotes.map((note) => creditNoteText(note, invoice, environment)),
    ],
  }
}

/** What says that it was paid, when and with what, is a receipt. */
function titleOf({ paidMinor }: InvoiceWithLines, environment: Environment): string {
  const title = paidMinor > 0n ? 'Invoice and receipt' : 'Invoice'
  return environment === 'live' ? title : `${title} (test)`
}

/** `Visa ending in 4242` */
function cardText({ brand, last4 }: PaidWith): string {
  return `${brand.slice(0, 1).toUpperCase()}${brand.slice(1)} ending in ${last4}`
}

/** `Visa ending in 4242 (12/2034)` */
function cardWithExpiryText(card: PaidWith): string {
  const expiry = expiryText(card)
  return expiry === null ? cardText(card) : `${cardText(card)} (${expiry})`
}

function sellerLines({ seller }: InvoiceParties): string[] {
  return withoutNone([
    seller.name,
    seller.country === null ? null : (countryNames.of(seller.country) ?? seller.country),
    seller.companyNumber === null ? null : `Company number ${seller.companyNumber}`,
    seller.taxId === null ? null : `Tax ID ${seller.taxId}`,
    seller.supportEmail,
  ])
}

function buyerLines({ buyer }: InvoiceParties): string[] {
  const { name, country = null, taxId = null, email, reference } = buyer
  return withoutNone([
    name,
    country === null ? null : (countryNames.of(country) ?? country),
    taxId === null ? null : `Tax ID ${taxId}`,
    email,
    reference,
  ])
}

function lineTexts(line: InvoiceLine, currency: string): LineTexts {
  const { description, period, amountMinor } = line
  return {
    description,
    details: detailsOf(line),
    period: period === null ? '' : `${dateText(period.start)} – ${dateText(period.end)}`,
    amount: formatMoney(amountMinor, currency),
  }
}

function detailsOf({ inputs }: InvoiceLine): string[] {
  switch (inputs.kind) {
    case 'usage':
      return usageTexts(inputs)
    case 'late_usage':
      return lateUsageTexts(inputs)
    case 'credits':
      return [`${unitsText(inputs.credits)} credits`]
    default:
      return []
  }
}

function sumsOf(
  invoice: InvoiceWithLines,
  payments: readonly InvoicePayment[],
): [string, string][] {
  const { currency, totalMinor, carriedMinor, creditedMinor, paidMinor, refundedMinor } = invoice
  const lost = payments.filter(({ dispute }) => dispute?.status === 'lost')
  const lostMinor = lost.reduce((sum, { dispute }) => sum + (dispute?.amountMinor ?? 0n), 0n)
  const isOwed = invoice.status !== 'void' && invoice.status !== 'draft'
  const taken: [string, bigint][] = [
    ['To the next invoice', -carriedMinor],
    ['Credit notes', -creditedMinor],
    ['Paid', -paidMinor],
    ['Refunded', refundedMinor],
    ['Taken back by the bank', lostMinor],
  ]
  const money = (amountMinor: bigint): string => formatMoney(amountMinor, currency)
  return [
    ...addedTaxes(invoice).flatMap(({ text, amountMinor, baseMinor }): [string, string][] => [
      ['Subtotal', money(totalMinor - amountMinor)],
      [`${text} on ${money(baseMinor)}`, money(amountMinor)],
    ]),
    [`Total (${currency})`, money(totalMinor)],
    ...containedTaxes(invoice).map(({ text, amountMinor, baseMinor }): [string, string] => [
      `${text} on ${money(baseMinor)}, included`,
      money(amountMinor),
    ]),
    ...taken.flatMap(([name, amountMinor]): [string, string][] =>
      amountMinor === 0n ? [] : [[name, money(amountMinor)]],
    ),
    ['Amount due', money(isOwed ? dueMinor(invoice) : 0n)],
  ]
}

type TaxTexts = {
  readonly text: string
  readonly amountMinor: bigint
  /** Without the tax. */
  readonly baseMinor: bigint
}

function addedTaxes(invoice: InvoiceWithLines): TaxTexts[] {
  return taxesOf(invoice.lines.filter((line) => !isContained(line)))
}

function containedTaxes(invoice: InvoiceWithLines): TaxTexts[] {
  return taxesOf(invoice.lines.filter(isContained))
}

function taxesOf(lines: readonly InvoiceLine[]): TaxTexts[] {
  return lines.flatMap(({ inputs, description, amountMinor }) =>
    inputs.kind === 'tax'
      ? [{ text: description, amountMinor, baseMinor: netBaseOf(inputs, amountMinor) }]
      : [],
  )
}

/** What the law has an invoice say that has no VAT, by the VAT Directive, 2006/112/EC. */
const untaxedNotes: Readonly<Record<TaxCharge['treatment'], string | null>> = {
  standard: null,
  reverse_charge:
    'Reverse charge: VAT is to be accounted for by the recipient (Articles 44 and 196, Directive 2006/112/EC).',
  none: 'No VAT is charged: the place of supply is outside the territory where the seller is registered for it.',
}

function taxNotes({ lines }: InvoiceWithLines): string[] {
  return withoutNone(
    lines.map(({ inputs }) => (inputs.kind === 'tax' ? untaxedNotes[inputs.treatment] : null)),
  )
}

/** One that was won leaves the invoice as it was. */
function disputeTexts({ dispute, paidWith }: InvoicePayment, currency: string): string[] {
  if (dispute === null || dispute.status === 'won') return []
  const card = paidWith === null ? '' : ` with ${cardText(paidWith)}`
  const payment = `The payment of ${formatMoney(dispute.amountMinor, currency)}${card}`
  return dispute.status === 'open'
    ? [`${payment} is disputed. The bank has not decided yet.`]
    : [`${payment} was disputed, and the bank has returned it to the cardholder.`]
}

function creditNoteText(
  note: CreditNote,
  { lines }: InvoiceWithLines,
  environment: Environment,
): string {
  const { number, totalMinor, currency, createdAt, reason, voidedAt } = note
  const what = `Credit note ${documentNumberText('credit_note', number, environment)} of ${dateText(createdAt)}`
  const why = reason === null ? '' : `: ${reason}`
  const taxMinor = creditedTaxOf(note, lines)
  const tax = taxMinor === 0n ? '' : `, of which VAT ${formatMoney(taxMinor, currency)}`
  const isVoid = voidedAt === null ? '' : `, void since ${dateText(voidedAt)}`
  return `${what}, ${formatMoney(totalMinor, currency)}${tax}${why}${isVoid}`
}

const dates = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeZone: 'UTC' })
const countryNames = new Intl.DisplayNames('en', { type: 'region' })

function dateText(at: Date): string {
  return dates.format(at)
}

function withoutNone(texts: readonly (string | null)[]): string[] {
  return texts.filter((text) => text !== null && text !== '') as string[]
}
