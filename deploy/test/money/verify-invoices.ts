import { listLines } from '@tollgate/domain/invoices/lines'
import { recomputeInvoice } from '@tollgate/domain/invoices/recompute-invoice'
import { findInvoice, listInvoices } from '@tollgate/domain/invoices/repository'
import type { InvoiceWithLines } from '@tollgate/domain/invoices/invoice'
import type { InvoiceLine } from '@tollgate/domain/pricing/invoice-line'
import type { UsageCharge, LateUsageCharge } from '@tollgate/domain/pricing/line-inputs'
import { expect } from 'vitest'
import type { ProcessorState } from '../../../stripe-simulator/test/at-processor.ts'
import type { Books } from './books.ts'
import { readReturned, verifyBalances, type Returned } from './verify-balances.ts'

type Payment = {
  readonly invoice: string
  readonly processor_payment_id: string
  readonly is_kept: boolean
}

const paidStatuses: readonly string[] = ['paid', 'partly_refunded', 'refunded']

/** Returns the issued invoices in the order of their numbers. */
export async function readInvoices({ sql, providerId }: Books): Promise<InvoiceWithLines[]> {
  const { invoices } = await listInvoices(sql, providerId, {}, { limit: 1_000, offset: 0 })
  const whole = invoices.map(async (invoice) => {
    return { ...invoice, lines: await listLines(sql, providerId, invoice.reference) }
  })
  return (await Promise.all(whole)).sort((one, other) => Number(one.number! - other.number!))
}

/** Returns the drafts of periods that cost nothing. Later invoices price late usage after the usage that they record. */
export async function readFreeDrafts({ sql, providerId }: Books): Promise<InvoiceWithLines[]> {
  const rows = await sql<{ reference: string }[]>`
    select reference from invoices
    where provider_id = ${providerId} and status = 'draft' and total = 0`
  const whole = rows.map(async ({ reference }) => {
    const invoice = (await findInvoice(sql, providerId, reference))!
    return { ...invoice, lines: await listLines(sql, providerId, reference) }
  })
  return Promise.all(whole)
}

/**
 * Checks that each invoice equals the sum of its lines, that a paid one was paid by one charge, and that each usage line has one
 * event.
 */
export async function verifyInvoices(books: Books, processor: ProcessorState): Promise<void> {
  const invoices = await readInvoices(books)
  expect(invoices.map(({ number }) => number)).toEqual(invoices.map((_, at) => BigInt(at + 1)))
  const payments = await readPayments(books)
  const outside = await readOutsidePayments(books)
  const returned = await readReturned(books)
  for (const invoice of invoices) {
    expect(recomputeInvoice(invoice), invoice.reference).toEqual([])
    verifyPaidOnce(invoice, outside.get(invoice.reference) ?? 0n, payments, processor, returned)
  }
  await verifyBalances(books, invoices, processor)
  await verifyFreeDrafts(books)
  await verifyReportedUsage(books, invoices)
  const { sql, providerId } = books
  const without = await sql`
    select reference from payment_intents
    where provider_id = ${providerId} and status = 'succeeded' and failure_reason is null
      and not exists (select from invoices where invoices.reference = invoice_ref)`
  expect([...without], 'payments without an invoice').toEqual([])
}

/** Checks that a draft of a period that cost nothing charges nothing: it has no amount, number, payment or posting. */
async function verifyFreeDrafts(books: Books): Promise<void> {
  const { sql, providerId } = books
  for (const draft of await readFreeDrafts(books)) {
    const { reference, number, lines } = draft
    expect(number, reference).toBeNull()
    expect(recomputeInvoice(draft), reference).toEqual([])
    expect(lines.filter(({ amountMinor }) => amountMinor !== 0n)).toEqual([])
    const uses = await sql`
      select reference from payment_intents
      where provider_id = ${providerId} and invoice_ref = ${reference}
      union all
      select reference from ledger_transactions
      where provider_id = ${providerId} and invoice_ref = ${reference}`
    expect([...uses], `payments and postings of ${reference}`).toEqual([])
  }
}

/** Returns the payments of invoices. A payment either names its invoice or was posted for it. */
async function readPayments({ sql, providerId }: Books): Promise<readonly Payment[]> {
  return sql<Payment[]>`
    select coalesce(posted.invoice_ref, intent.invoice_ref) as invoice, processor_payment_id,
      failure_reason is null as is_kept
    from payment_intents as intent left join ledger_transactions as posted
      on posted.provider_id = intent.provider_id
      and transaction_key = 'payment:' || intent.reference || ':succeeded'
    where intent.provider_id = ${providerId} and processor_payment_id is not null
      and coalesce(posted.invoice_ref, intent.invoice_ref) is not null`
}

/** Returns what was paid without the processor, by invoice. */
async function readOutsidePayments({ sql, providerId }: Books): Promise<Map<string, bigint>> {
  const rows = await sql<{ invoice_ref: string; amount: string }[]>`
    select invoice_ref, sum(amount) as amount from invoice_decisions
    where provider_id = ${providerId} and kind = 'paid_outside' group by invoice_ref`
  return new Map(rows.map((row) => [row.invoice_ref, BigInt(row.amount)]))
}

function verifyPaidOnce(
  {
    reference,
    status,
    totalMinor,
    carriedMinor,
    creditedMinor,
    paidMinor,
    ...rest
  }: InvoiceWithLines,
  outsideMinor: bigint,
  payments: readonly Payment[],
  { charges, refunds }: ProcessorState,
  { toBalance, fromBalance }: Returned,
): void {
  const kept = payments
    .filter(({ invoice, is_kept: isKept }) => invoice === reference && isKept)
    .map((payment) => payment.processor_payment_id)
  const charged = charges.filter(
    (charge) => kept.includes(charge.payment_intent) && charge.status === 'succeeded',
  )
  expect(
    charged.map(({ amount }) => BigInt(amount)),
    `${reference} is ${status}`,
  ).toEqual(paidMinor > outsideMinor ? [paidMinor - outsideMinor] : [])
  if (paidStatuses.includes(status)) {
    expect(totalMinor).toBe(carriedMinor + creditedMinor + paidMinor)
  } else {
    expect(paidMinor).toBe(outsideMinor)
  }
  const back = refunds.filter(
    (refund) => kept.includes(refund.payment_intent) && refund.status === 'succeeded',
  )
  const backMinor = back.reduce(
    (sum, { id, amount }) => sum + BigInt(amount) - (fromBalance.get(id) ?? 0n),
    toBalance.get(reference) ?? 0n,
  )
  // A return to the balance may return more than was paid of the invoice: also what an earlier credit had paid.
  const usesCredit = rest.lines.some(
    ({ inputs, amountMinor }) => inputs.kind === 'carried_in' && amountMinor < 0n,
  )
  const refundedMinor = usesCredit && backMinor > paidMinor ? paidMinor : backMinor
  expect(rest.refundedMinor, `${reference} is refunded`).toBe(refundedMinor)
}

export type UsageLine = InvoiceLine & { readonly inputs: UsageCharge | LateUsageCharge }

export function usageLinesOf({ lines }: InvoiceWithLines): UsageLine[] {
  return lines.filter(
    (line): line is UsageLine => line.inputs.kind === 'usage' || line.inputs.kind === 'late_usage',
  )
}

async function verifyReportedUsage(
  { sql, providerId }: Books,
  invoices: readonly InvoiceWithLines[],
): Promise<void> {
  const told = await sql<{ invoice: string; amount: string }[]>`
    select object ->> 'reference' as invoice, object ->> 'amount' as amount from outbox
    where provider_id = ${providerId} and type = 'usage.charged'`
  const billed = invoices.flatMap((invoice) =>
    usageLinesOf(invoice)
      .filter(({ amountMinor }) => amountMinor !== 0n)
      .map(({ amountMinor }) => `${invoice.reference} ${amountMinor}`),
  )
  expect(told.map(({ invoice, amount }) => `${invoice} ${amount}`).sort()).toEqual(billed.sort())
}
