import type { Queryable } from '@tollgate/platform/database/database'
import {
  creditNoteIssued,
  type CreditNotePosting,
  type CreditNoteUse,
} from '../money-ledger/postings.ts'
import { postMoney } from '../money-ledger/post-money.ts'
import type { InvoiceLine } from '../pricing/invoice-line.ts'
import { generateReference } from '../unit-of-work/generate-reference.ts'
import type { UnitOfWork } from '../unit-of-work/unit-of-work.ts'
import { addCarried } from './carried-amounts.ts'
import {
  creditedTaxOf,
  decideCredit,
  type CreditedLine,
  type CreditedPart,
  type CreditRefusal,
  type IssuableCredit,
} from './decide-credit.ts'
import type { InvoiceWithLines } from './invoice.ts'
import { soldAs } from './issue-invoice.ts'
import { moveInvoice } from './move-invoice.ts'
import { assignNumber } from './numbers.ts'

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
  /**
   * Reference, at the processor, of the refund for which Tollgate issued this note automatically. Null for other notes.
   */
  readonly refundRef: string | null
  /** When the note became void because its refund failed. A void note credits nothing. */
  readonly voidedAt: Date | null
  readonly createdAt: Date
  readonly lines: readonly CreditedLine[]
}

export type CreditRequest = CreditedPart & Pick<CreditNote, 'reason'>

export type CreditOutcome = { readonly kind: 'credited'; readonly note: CreditNote } | CreditRefusal

/**
 * Credits part of an invoice. The caller has locked the invoice's row. `settles` decides where the amount goes:
 * - `invoice` reduces the amount due of an open invoice;
 * - `balance` credits a paid invoice to the customer's next invoice;
 * - `refund` only posts the credit of a paid invoice, and the caller makes the refund.
 *
 * The tax of the credited amount is credited with it, as a separate line.
 */
export async function creditInvoice(
  work: UnitOfWork,
  invoice: InvoiceWithLines,
  request: CreditRequest,
): Promise<CreditOutcome> {
  const credited = await sumCredited(work.sql, work.providerId, invoice.reference)
  const decision = decideCredit(invoice, credited, request)
  if (decision.kind !== 'credit') return decision
  const note = await issueCreditNote(work, invoice, decision, { ...request, refundRef: null })
  return { kind: 'credited', note }
}

/**
 * Issues a credit note from a credit decision: posts it, applies it to the invoice or the customer's next invoice, and
 * stores it.
 */
export async function issueCreditNote(
  work: UnitOfWork,
  invoice: InvoiceWithLines,
  { lines, totalMinor }: IssuableCredit,
  { settles, reason, refundRef }: Pick<CreditNote, 'settles' | 'reason' | 'refundRef'>,
): Promise<CreditNote> {
  const { sql, providerId, now } = work
  const { reference: invoiceRef, customerRef, currency } = invoice
  const reference = generateReference('creditNote')
  const of = { reference, invoiceRef, customerRef, currency, totalMinor, settles, lines }
  await postMoney(work, creditNoteIssued(toCreditNotePosting(of, invoice.lines)))
  if (settles === 'invoice') await moveInvoice(work, invoice, 'credited', totalMinor)
  // A credit for the next invoice is stored as a negative carried amount.
  if (settles === 'balance') await addCarried(sql, providerId, invoice, -totalMinor, now)
  const number = await assignNumber(sql, providerId, 'credit_note')
  const note: CreditNote = { ...of, number, reason, refundRef, voidedAt: null, createdAt: now }
  await insertCreditNote(sql, providerId, note)
  return note
}

/** Returns the ledger posting of a credit note. `charged` are the lines of the invoice. */
export function toCreditNotePosting(
  note: Omit<CreditNote, 'number' | 'reason' | 'refundRef' | 'voidedAt' | 'createdAt'>,
  charged: readonly InvoiceLine[],
): CreditNotePosting {
  const { reference, invoiceRef, customerRef, currency, totalMinor: amountMinor, settles } = note
  const taxMinor = creditedTaxOf(note, charged)
  const of = { reference, invoiceRef, customerRef, currency, settles }
  return { ...of, sold: soldAs(charged), amountMinor, taxMinor }
}

/**
 * Returns what the valid credit notes of the invoice have credited, in minor units, keyed by the index of the invoice
 * line.
 */
export async function sumCredited(
  sql: Queryable,
  providerId: string,
  invoiceRef: string,
): Promise<Map<number, bigint>> {
  const credited = await sumCreditedByInvoice(sql, providerId, [invoiceRef])
  return credited.get(invoiceRef) ?? new Map()
}

/** Returns what `sumCredited` returns for several invoices, keyed by invoice. Invoices without a valid credit note are absent. */
export async function sumCreditedByInvoice(
  sql: Queryable,
  providerId: string,
  invoiceRefs: readonly string[],
): Promise<Map<string, Map<number, bigint>>> {
  const rows = await sql<{ invoice_ref: string; invoice_line: number; amount: string }[]>`
    select invoice_ref, invoice_line, sum(amount) as amount from credit_note_lines as credited
    where provider_id = ${providerId} and invoice_ref = any(${[...invoiceRefs]})
      and not exists (select from credit_notes as note where note.provider_id = credited.provider_id
        and note.reference = credited.credit_note_ref and note.voided_at is not null)
    group by invoice_ref, invoice_line`
  const found = new Map<string, Map<number, bigint>>()
  for (const { invoice_ref: invoiceRef, invoice_line: line, amount } of rows) {
    const ofInvoice = found.get(invoiceRef) ?? new Map<number, bigint>()
    found.set(invoiceRef, ofInvoice.set(line, BigInt(amount)))
  }
  return found
}

/** Returns the sum of the valid credit notes of the invoice that credited the customer's balance. Minor units. */
export async function sumCreditedToBalance(
  sql: Queryable,
  providerId: string,
  invoiceRef: string,
): Promise<bigint> {
  const [row] = await sql<{ total: string }[]>`
    select coalesce(sum(total), 0)::text as total from credit_notes
    where provider_id = ${providerId} and invoice_ref = ${invoiceRef}
      and settles = 'balance' and voided_at is null`
  return BigInt(row!.total)
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
       refund_ref, created_at)
    values (${providerId}, ${reference}, ${number.toString()}, ${invoiceRef}, ${customerRef}, ${currency},
      ${totalMinor.toString()}, ${settles}, ${note.reason}, ${note.refundRef}, ${note.createdAt})`
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

export async function markCreditNoteVoid(
  sql: Queryable,
  providerId: string,
  reference: string,
  now: Date,
): Promise<void> {
  await sql`
    update credit_notes set voided_at = ${now}
    where provider_id = ${providerId} and reference = ${reference}`
}

/** Returns the credit notes of one invoice, oldest first, including void ones. */
export async function listCreditNotes(
  sql: Queryable,
  providerId: string,
  invoiceRef: string,
): Promise<CreditNote[]> {
  const notes = await listCreditNotesByInvoice(sql, providerId, [invoiceRef])
  return notes.get(invoiceRef) ?? []
}

/** Returns the credit notes of several invoices, keyed by invoice. Invoices without a credit note are absent. */
export async function listCreditNotesByInvoice(
  sql: Queryable,
  providerId: string,
  invoiceRefs: readonly string[],
): Promise<Map<string, CreditNote[]>> {
  type Row = {
    invoice_ref: string
    reference: string
    number: bigint
    customer_ref: string
    currency: string
    total: string
    settles: CreditNoteUse
    reason: string | null
    refund_ref: string | null
    voided_at: Date | null
    created_at: Date
    lines: { line: number; amount: string }[]
  }
  const rows = await sql<Row[]>`
    select invoice_ref, reference, number, customer_ref, currency, total, settles, reason, refund_ref,
      voided_at, created_at, (
      select json_agg(json_build_object('line', invoice_line, 'amount', amount::text) order by line)
      from credit_note_lines
      where credit_note_lines.provider_id = ${providerId} and credit_note_ref = reference
    ) as lines
    from credit_notes where provider_id = ${providerId} and invoice_ref = any(${[...invoiceRefs]})
    order by number`
  const notes = rows.map((row) => ({
    reference: row.reference,
    number: row.number,
    invoiceRef: row.invoice_ref,
    customerRef: row.customer_ref,
    currency: row.currency,
    totalMinor: BigInt(row.total),
    settles: row.settles,
    reason: row.reason,
    refundRef: row.refund_ref,
    voidedAt: row.voided_at,
    createdAt: row.created_at,
    lines: row.lines.map(({ line, amount }) => ({ line, amountMinor: BigInt(amount) })),
  }))
  const byInvoice = new Map<string, CreditNote[]>()
  for (const note of notes) {
    byInvoice.set(note.invoiceRef, [...(byInvoice.get(note.invoiceRef) ?? []), note])
  }
  return byInvoice
}
