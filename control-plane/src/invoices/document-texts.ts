import { formatMoney } from '@tollgate/domain/money/currencies'
import type { InvoiceParties, InvoiceWithLines } from '@tollgate/domain/invoices/invoice'
import type { InvoiceLine } from '@tollgate/domain/pricing/invoice-line'
import type { TaxCharge } from '@tollgate/domain/pricing/line-inputs'
import type { Environment } from '@tollgate/schemas/environment'
import { countryText, periodText } from './document-formats.ts'
import { documentText } from './document-words.ts'

/* The texts that invoices and credit notes share. */

export type NamedText = readonly [name: string, value: string]

/** All texts on the pages of an invoice or a credit note. */
export type DocumentTexts = {
  readonly title: string
  readonly seller: readonly string[]
  readonly buyer: readonly string[]
  readonly facts: readonly NamedText[]
  readonly lines: readonly LineTexts[]
  /** Sums of the document. The last one is the amount that the document asks for. */
  readonly sums: readonly NamedText[]
  readonly taxes: readonly TaxTexts[]
  readonly payments: readonly PaymentTexts[]
  readonly notes: readonly string[]
}

export type LineTexts = {
  readonly description: string
  /** The period and how usage was counted, one line each. */
  readonly details: readonly string[]
  /** Units and unit price, one line for each price of the invoice line. */
  readonly quantities: readonly string[]
  readonly unitPrices: readonly string[]
  readonly amount: string
}

type TaxTexts = {
  readonly tax: string
  readonly rate: string
  readonly base: string
  readonly amount: string
}

export type PaymentTexts = {
  readonly date: string
  readonly method: string
  readonly amount: string
}

export function titleText(
  name: 'invoice' | 'receipt' | 'creditNote',
  environment: Environment,
): string {
  return environment === 'live'
    ? documentText(name)
    : documentText('ofTestMode', { title: documentText(name) })
}

export function sellerLines({ seller }: InvoiceParties): string[] {
  const { name, address = null, country, companyNumber, taxId, supportEmail } = seller
  return withoutEmpty([
    name,
    ...addressLines(address),
    country === null ? null : countryText(country),
    companyNumber === null ? null : documentText('companyNumber', { number: companyNumber }),
    taxId === null ? null : documentText('taxId', { number: taxId }),
    supportEmail,
  ])
}

export function buyerLines({ buyer }: InvoiceParties): string[] {
  const { name, address = null, country = null, taxId = null, email, reference } = buyer
  return withoutEmpty([
    name,
    ...addressLines(address),
    country === null ? null : countryText(country),
    taxId === null ? null : documentText('taxId', { number: taxId }),
    email,
    reference,
  ])
}

function addressLines(address: string | null): string[] {
  return address === null ? [] : address.split(/\r?\n/).map((line) => line.trim())
}

/** Returns what was bought, with the names that applied on the day the invoice was issued. */
export function saleFacts({
  parties,
  planSnapshot,
}: Pick<InvoiceWithLines, 'parties' | 'planSnapshot'>): NamedText[] {
  const { productName } = parties ?? {}
  return [
    ...(productName === undefined ? [] : [[documentText('product'), productName] as const]),
    ...(planSnapshot === null ? [] : [[documentText('plan'), planSnapshot.name] as const]),
  ]
}

export function periodDetails({ period }: Pick<InvoiceLine, 'period'>): string[] {
  return period === null ? [] : [periodText(period)]
}

export type TaxAmounts = {
  readonly text: string
  readonly ratePerMille: string
  readonly amountMinor: bigint
  /** Amount without the tax. */
  readonly baseMinor: bigint
}

export function taxTexts(taxes: readonly TaxAmounts[], currency: string): TaxTexts[] {
  return taxes.map(({ text, ratePerMille, amountMinor, baseMinor }) => ({
    tax: text,
    rate: documentText('percent', { percent: Number(ratePerMille) / 10 }),
    base: formatMoney(baseMinor, currency),
    amount: formatMoney(amountMinor, currency),
  }))
}

/** Returns the statements that the VAT Directive, 2006/112/EC, requires on an invoice without VAT. */
export function taxNotes(lines: readonly Pick<InvoiceLine, 'inputs'>[]): string[] {
  const notes: Readonly<Record<TaxCharge['treatment'], string | null>> = {
    standard: null,
    reverse_charge: documentText('reverseChargeNote'),
    none: documentText('noVatNote'),
  }
  return withoutEmpty(
    lines.map(({ inputs }) => (inputs.kind === 'tax' ? notes[inputs.treatment] : null)),
  )
}

function withoutEmpty(texts: readonly (string | null)[]): string[] {
  return texts.filter((text) => text !== null && text !== '') as string[]
}
