import type { CreditNoteUse } from '../money-ledger/postings.ts'
import { isContained, type InvoiceLine } from '../pricing/invoice-line.ts'
import { taxMinorOnBase } from '../pricing/tax-line.ts'
import type { InvoiceWithLines } from './invoice.ts'
import { dueMinor, type InvoiceStatus } from './transitions.ts'

/** Part of an invoice line that should not have been charged. Minor units, greater than 0. */
export type CreditedLine = { readonly line: number; readonly amountMinor: bigint }

/** `lines` name the charged lines and the amounts to credit. Their tax is computed and must not be listed. */
export type CreditedPart = {
  readonly lines: readonly CreditedLine[]
  readonly settles: CreditNoteUse
}

export type CreditRefusal =
  /** The amount exceeds what is left of the line, or there is no such line. */
  | { readonly kind: 'line'; readonly line: number; readonly leftMinor: bigint }
  /** The amount exceeds what is left of all lines after discounts and other negative lines, without tax. */
  | { readonly kind: 'nothing-left'; readonly leftMinor: bigint }
  /** The amount exceeds what is due, or nothing on the invoice is due. */
  | { readonly kind: 'not-due'; readonly dueMinor: bigint }
  /** The invoice is not paid, so its charge cannot be refunded or credited to the next invoice. */
  | { readonly kind: 'not-settled' }

/** Lines and totals of a credit note. */
export type IssuableCredit = {
  /** The credited lines and the lines of their tax. */
  readonly lines: readonly CreditedLine[]
  /** Minor units that the customer receives, including `taxMinor`. */
  readonly totalMinor: bigint
  readonly taxMinor: bigint
}

export type CreditDecision = ({ readonly kind: 'credit' } & IssuableCredit) | CreditRefusal

/**
 * Decides the lines of a credit note, or why the credit is refused. `credited` is what earlier notes have credited,
 * keyed by the index of the invoice line.
 */
export function decideCredit(
  invoice: InvoiceWithLines,
  credited: ReadonlyMap<number, bigint>,
  { lines, settles }: CreditedPart,
): CreditDecision {
  const after = new Map(credited)
  let wholeLeftMinor = creditableLeft(invoice.lines, credited)
  for (const { line, amountMinor } of lines) {
    const before = after.get(line) ?? 0n
    const leftMinor = creditableOf(invoice.lines[line]) - before
    if (amountMinor <= 0n || amountMinor > leftMinor) return { kind: 'line', line, leftMinor }
    if (amountMinor > wholeLeftMinor) return { kind: 'nothing-left', leftMinor: wholeLeftMinor }
    after.set(line, before + amountMinor)
    wholeLeftMinor -= amountMinor
  }
  const tax = creditedTax(invoice.lines, after)
  const added = tax.filter(({ line }) => !isContained(invoice.lines[line]!))
  const totalMinor = sumOf([...lines, ...added])
  const refused = refusalOf(invoice, settles, totalMinor)
  return refused ?? { kind: 'credit', lines: [...lines, ...tax], totalMinor, taxMinor: sumOf(tax) }
}

/**
 * Returns what can still be credited of all lines together, without tax. It is less than the sum of the prices if the invoice has
 * discounts, or a credit for a change of plan.
 */
function creditableLeft(
  lines: readonly InvoiceLine[],
  credited: ReadonlyMap<number, bigint>,
): bigint {
  const isPrice = ({ inputs }: InvoiceLine): boolean =>
    inputs.kind !== 'carried_in' && inputs.kind !== 'tax'
  const charged = sumOf(lines.filter(isPrice))
  const before = [...credited].filter(([line]) => isPrice(lines[line]!))
  return charged - sumOf(before.map(([, amountMinor]) => ({ amountMinor })))
}

/**
 * Returns the tax to credit: the tax of everything that is credited so far, minus the tax that was credited before.
 * After any sequence of partial credits, all of the tax is credited, to the last minor unit.
 */
function creditedTax(
  lines: readonly InvoiceLine[],
  credited: ReadonlyMap<number, bigint>,
): CreditedLine[] {
  return lines.flatMap(({ inputs, amountMinor: chargedMinor }, line) => {
    if (inputs.kind !== 'tax') return []
    const of = [...credited].filter(([at]) => at !== line)
    const taxMinor = taxMinorOnBase(inputs, sumOf(of.map(([, amountMinor]) => ({ amountMinor }))))
    const allMinor = taxMinor < chargedMinor ? taxMinor : chargedMinor
    const amountMinor = allMinor - (credited.get(line) ?? 0n)
    return amountMinor > 0n ? [{ line, amountMinor }] : []
  })
}

function refusalOf(
  invoice: InvoiceWithLines,
  settles: CreditNoteUse,
  totalMinor: bigint,
): CreditRefusal | undefined {
  if (settles !== 'invoice') {
    return settledStatuses.has(invoice.status) ? undefined : { kind: 'not-settled' }
  }
  const due = invoice.status === 'open' ? dueMinor(invoice) : 0n
  return totalMinor <= due ? undefined : { kind: 'not-due', dueMinor: due }
}

/** Statuses of invoices of which nothing is due any more. */
export const settledStatuses: ReadonlySet<InvoiceStatus> = new Set([
  'paid',
  'partly_refunded',
  'refunded',
])

/** Returns the part of a credit note that is tax, in minor units. */
export function creditedTaxOf(
  note: { readonly lines: readonly CreditedLine[] },
  charged: readonly InvoiceLine[],
): bigint {
  return sumOf(note.lines.filter(({ line }) => charged[line]?.inputs.kind === 'tax'))
}

/**
 * Returns how much of the line can be credited directly, in minor units. An amount carried over from earlier invoices
 * is credited on those invoices, and tax is credited together with its price.
 */
export function creditableOf(line: InvoiceLine | undefined): bigint {
  const isCharge = line !== undefined && !['carried_in', 'tax'].includes(line.inputs.kind)
  return isCharge ? line.amountMinor : 0n
}

function sumOf(amounts: readonly Pick<CreditedLine, 'amountMinor'>[]): bigint {
  return amounts.reduce((sum, { amountMinor }) => sum + amountMinor, 0n)
}
