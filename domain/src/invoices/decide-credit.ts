import type { CreditNoteUse } from '../money-ledger/postings.ts'
import { isContained, type InvoiceLine } from '../pricing/invoice-line.ts'
import { taxMinorOn } from '../pricing/tax-line.ts'
import type { InvoiceWithLines } from './invoice.ts'
import { dueMinor, type InvoiceStatus } from './transitions.ts'

/** Part of an invoice line that should not have been charged. Minor units, more than none. */
export type CreditedLine = { readonly line: number; readonly amountMinor: bigint }

/** `lines` name what was charged at the price that it was charged at; their tax is not to be named. */
export type CreditedPart = {
  readonly lines: readonly CreditedLine[]
  readonly settles: CreditNoteUse
}

export type CreditRefusal =
  /** More than is left of the line, or a line that is not there. */
  | { readonly kind: 'line'; readonly line: number; readonly leftMinor: bigint }
  /** More than is due, or nothing of the invoice is due at all. */
  | { readonly kind: 'not-due'; readonly dueMinor: bigint }
  /** Nothing to keep or to pay back: it comes off what is due, or was never owed. */
  | { readonly kind: 'not-settled' }

/** What a credit note takes back. */
export type IssuableCredit = {
  /** With that of their tax. */
  readonly lines: readonly CreditedLine[]
  /** What the customer has of it, `taxMinor` included. */
  readonly totalMinor: bigint
  readonly taxMinor: bigint
}

export type CreditDecision = ({ readonly kind: 'credit' } & IssuableCredit) | CreditRefusal

/** What a credit note takes back. `credited` is what earlier ones did, by line of the invoice. */
export function decideCredit(
  invoice: InvoiceWithLines,
  credited: ReadonlyMap<number, bigint>,
  { lines, settles }: CreditedPart,
): CreditDecision {
  const after = new Map(credited)
  for (const { line, amountMinor } of lines) {
    const before = after.get(line) ?? 0n
    const leftMinor = creditableOf(invoice.lines[line]) - before
    if (amountMinor <= 0n || amountMinor > leftMinor) return { kind: 'line', line, leftMinor }
    after.set(line, before + amountMinor)
  }
  const tax = creditedTax(invoice.lines, after)
  const added = tax.filter(({ line }) => !isContained(invoice.lines[line]!))
  const totalMinor = sumOf([...lines, ...added])
  const refused = refuse(invoice, settles, totalMinor)
  return refused ?? { kind: 'credit', lines: [...lines, ...tax], totalMinor, taxMinor: sumOf(tax) }
}

/**
 * The tax of all that is credited by now, less what was credited of it before: however an invoice is credited bit by bit,
 * in the end no cent of its tax is left.
 */
function creditedTax(
  lines: readonly InvoiceLine[],
  credited: ReadonlyMap<number, bigint>,
): CreditedLine[] {
  return lines.flatMap(({ inputs, amountMinor: chargedMinor }, line) => {
    if (inputs.kind !== 'tax') return []
    const of = [...credited].filter(([at]) => at !== line)
    const taxMinor = taxMinorOn(inputs, sumOf(of.map(([, amountMinor]) => ({ amountMinor }))))
    const allMinor = taxMinor < chargedMinor ? taxMinor : chargedMinor
    const amountMinor = allMinor - (credited.get(line) ?? 0n)
    return amountMinor > 0n ? [{ line, amountMinor }] : []
  })
}

function refuse(
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

const settledStatuses: ReadonlySet<InvoiceStatus> = new Set(['paid', 'partly_refunded', 'refunded'])

/** What of a credit note is tax. */
export function creditedTaxOf(
  note: { readonly lines: readonly CreditedLine[] },
  charged: readonly InvoiceLine[],
): bigint {
  return sumOf(note.lines.filter(({ line }) => charged[line]?.inputs.kind === 'tax'))
}

/** What earlier invoices left is theirs to take back, and tax goes with what it is the tax of. */
export function creditableOf(line: InvoiceLine | undefined): bigint {
  const isCharge = line !== undefined && !['carried_in', 'tax'].includes(line.inputs.kind)
  return isCharge ? line.amountMinor : 0n
}

function sumOf(amounts: readonly Pick<CreditedLine, 'amountMinor'>[]): bigint {
  return amounts.reduce((sum, { amountMinor }) => sum + amountMinor, 0n)
}
