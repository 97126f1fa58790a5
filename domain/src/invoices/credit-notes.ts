import type { Queryable } from '@tollgate/platform/database/database'
import { creditNoteIssued, type CreditNoteUse } from '../money-ledger/postings.ts'
import { postMoney } from '../money-ledger/post-money.ts'
import type { InvoiceLine } from '../pricing/invoice-line.ts'
import { drawReference } from '../unit-of-work/draw-reference.ts'
import type { UnitOfWork } from '../unit-of-work/unit-of-work.ts'
import { addCarried } from './carried-amounts.ts'
import type { InvoiceWithLines } from './invoice.ts'
import { moveInvoice } from './move-invoice.ts'
import { takeNumber } from './numbers.ts'
import { dueMinor, type InvoiceStatus } from './transitions.ts'

/** Part of an invoice line that should not have been charged. Minor units, more than none. */
export type CreditedLine = { readonly line: number; readonly amountMinor: bigint }

export type CreditNote = {
  readonly reference: string
  /** Counted from 1 for each provider and environment, without gaps. */
  readonly number: bigint
  readonly invoiceRef: string
  readonly customerRef: string
  readonly currency: string
  readonly totalMinor: bigint
  readonly settles: CreditNoteUse
  readonly reason: string | null
  readonly createdAt: Date
  readonly lines: readonly CreditedLine[]
}

export type CreditRequest = Pick<CreditNote, 'lines' | 'settles' | 'reason'>

export type CreditOutcome =
  | { readonly kind: 'credited'; readonly note: CreditNote }
  /** More than is left of the line, or a line that is not there. */
  | { readonly kind: 'line'; readonly line: number; readonly leftMinor: bigint }
  /** More than is due, or nothing of the invoice is due at all. */
  | { readonly kind: 'not-due'; readonly dueMinor: bigint }
  /** Nothing to keep or to pay back: it comes off what is due, or was never owed. */
  | { readonly kind: 'not-settled' }

/**
 * Takes back part of what an invoice charged, whose row the caller has locked. Of an open invoice it comes off what is due
 * (`invoice`); of a paid one the customer has it with the next invoice (`balance`), or is paid back (`refund`, which only
 * books it: the refund is the caller's to make).
 */
export async function creditInvoice(
  work: UnitOfWork,
  invoice: InvoiceWithLines,
  { lines, settles, reason }: CreditRequest,
): Promise<CreditOutcome> {
  const { sql, providerId, now } = work
  const { reference: invoiceRef, customerRef, currency } = invoice
  const refused = await refuse(sql, providerId, invoice, { lines, settles, reason })
  if (refused !== undefined) return refused
  const totalMinor = sumOf(lines)
  const reference = drawReference('creditNote')
  const amounts = { amountMinor: totalMinor, taxMinor: 0n }
  const posted = { reference, invoiceRef, customerRef, currency, ...amounts, settles }
  await postMoney(work, creditNoteIssued(posted))
  if (settles === 'invoice') await moveInvoice(work, invoice, 'credited', totalMinor)
  // A credit for the next invoice is an amount below nothing that waits.
  if (settles === 'balance') await addCarried(sql, providerId, invoice, -totalMinor, now)
  const number = await takeNumber(sql, providerId, 'credit_note')
  const of = { invoiceRef, customerRef, currency, totalMinor }
  const note: CreditNote = { reference, number, ...of, settles, reason, createdAt: now, lines }
  await insertCreditNote(sql, providerId, note)
  return { kind: 'credited', note }
}

async function refuse(
  sql: Queryable,
  providerId: string,
  invoice: InvoiceWithLines,
  { lines, settles }: CreditRequest,
): Promise<Exclude<CreditOutcome, { kind: 'credited' }> | undefined> {
  const credited = await sumCredited(sql, providerId, invoice.reference)
  for (const { line, amountMinor } of lines) {
    const charged = chargedBy(invoice.lines[line])
    const leftMinor = charged - (credited.get(line) ?? 0n)
    if (amountMinor <= 0n || amountMinor > leftMinor) return { kind: 'line', line, leftMinor }
    credited.set(line, charged - leftMinor + amountMinor)
  }
  if (settles !== 'invoice') {
    return settledStatuses.has(invoice.status) ? undefined : { kind: 'not-settled' }
  }
  const due = invoice.status === 'open' ? dueMinor(invoice) : 0n
  return sumOf(lines) <= due ? undefined : { kind: 'not-due', dueMinor: due }
}

const settledStatuses: ReadonlySet<InvoiceStatus> = new Set(['paid', 'partly_refunded', 'refunded'])

/** What earlier invoices left is theirs to take back. */
function chargedBy(line: InvoiceLine | undefined): bigint {
  return line === undefined || line.inputs.kind === 'carried_in' ? 0n : line.amountMinor
}

/** By line of the invoice, what credit notes have taken back. */
async function sumCredited(
  sql: Queryable,
  providerId: string,
  invoiceRef: string,
): Promise<Map<number, bigint>> {
  const rows = await sql<{ invoice_line: number; amount: string }[]>`
    select invoice_line, sum(amount) as amount from credit_note_lines
    where provider_id = ${providerId} and invoice_ref = ${invoiceRef} group by invoice_line`
  return new Map(rows.map((row) => [row.invoice_line, BigInt(row.amount)]))
}

async function insertCreditNote(
  sql: Queryable,
  providerId: string,
  note: CreditNote,
): Promise<void> {
  const { reference, number, invoiceRef, customerRef, currency, totalMinor, settles } = note
  await sql`
    insert into credit_notes
      (provider_id, reference, number, invoice_ref, customer_ref, currency, total, settles, reason,
       created_at)
    values (${providerId}, ${reference}, ${number.toString()}, ${invoiceRef}, ${customerRef}, ${currency},
      ${totalMinor.toString()}, ${settles}, ${note.reason}, ${note.createdAt})`
  const rows = note.lines.map(({ line, amountMinor }, at) => ({
    provider_id: providerId,
    credit_note_ref: reference,
    line: at,
    invoice_ref: invoiceRef,
    invoice_line: line,
    amount: amountMinor.toString(),
  }))
  await sql`insert into credit_note_lines ${sql(rows)}`
}

/** Of one invoice, the oldest first. */
export async function listCreditNotes(
  sql: Queryable,
  providerId: string,
  invoiceRef: string,
): Promise<CreditNote[]> {
  type Row = {
    reference: string
    number: bigint
    customer_ref: string
    currency: string
    total: string
    settles: CreditNoteUse
    reason: string | null
    created_at: Date
    lines: { line: number; amount: string }[]
  }
  const rows = await sql<Row[]>`
    select reference, number, customer_ref, currency, total, settles, reason, created_at, (
      select json_agg(json_build_object('line', invoice_line, 'amount', amount::text) order by line)
      from credit_note_lines
      where credit_note_lines.provider_id = ${providerId} and credit_note_ref = reference
    ) as lines
    from credit_notes where provider_id = ${providerId} and invoice_ref = ${invoiceRef}
    order by number`
  return rows.map((row) => ({
    reference: row.reference,
    number: row.number,
    invoiceRef,
    customerRef: row.customer_ref,
    currency: row.currency,
    totalMinor: BigInt(row.total),
    settles: row.settles,
    reason: row.reason,
    createdAt: row.created_at,
    lines: row.lines.map(({ line, amount }) => ({ line, amountMinor: BigInt(amount) })),
  }))
}

function sumOf(lines: readonly CreditedLine[]): bigint {
  return lines.reduce((sum, { amountMinor }) => sum + amountMinor, 0n)
}
