import { listLines } from '@tollgate/domain/invoices/lines'
import { recomputeInvoice } from '@tollgate/domain/invoices/recompute-invoice'
import { listInvoices } from '@tollgate/domain/invoices/repository'
import type { InvoiceWithLines } from '@tollgate/domain/invoices/invoice'
import type { InvoiceLine } from '@tollgate/domain/pricing/invoice-line'
import type { UsageCharge, LateUsageCharge } from '@tollgate/domain/pricing/line-inputs'
import { expect } from 'vitest'
import type { ProcessorState } from '../../../stripe-simulator/test/at-processor.ts'
import type { Books } from './books.ts'

type Payment = {
  readonly invoice: string
  readonly processor_payment_id: string
  readonly is_kept: boolean
}

const paidStatuses: readonly string[] = ['paid', 'partly_refunded', 'refunded']

/** Returns the invoices in the order of their numbers. */
export async function readInvoices({ sql, providerId }: Books): Promise<InvoiceWithLines[]> {
  const { invoices } = await listInvoices(sql, providerId, {}, { limit: 1_000, offset: 0 })
  const whole = invoices.map(async (invoice) => {
    return { ...invoice, lines: await listLines(sql, providerId, invoice.reference) }
  })
  return (await Promise.all(whole)).sort((one, other) => Number(one.number! - other.number!))
}

/**
 * Checks that each invoice equals the sum of its lines, that a paid one was paid by one charge, and that each usage line has one
 * event.
 */
export async function verifyInvoices(books: Books, processor: ProcessorState): Promise<void> {
  const invoices = await readInvoices(books)
  expect(invoices.map(({ number }) => number)).toEqual(invoices.map((_, at) => BigInt(at + 1)))
  const payments = await readPayments(books)
  for (const invoice of invoices) {
    expect(recomputeInvoice(invoice), invoice.reference).toEqual([])
    verifyPaidOnce(invoice, payments, processor)
  }
  await verifyReportedUsage(books, invoices)
  const { sql, providerId } = books
  const without = await sql`
    select reference from payment_intents
    where provider_id = ${providerId} and status = 'succeeded' and failure_reason is null
      and not exists (select from invoices where invoices.reference = invoice_ref)`
  expect([...without], 'payments without an invoice').toEqual([])
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
  payments: readonly Payment[],
  { charges, refunds }: ProcessorState,
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
  ).toEqual(paidMinor > 0n ? [paidMinor] : [])
  if (paidStatuses.includes(status)) {
    expect(totalMinor).toBe(carriedMinor + creditedMinor + paidMinor)
  } else {
    expect(paidMinor).toBe(0n)
  }
  const back = refunds.filter(
    (refund) => kept.includes(refund.payment_intent) && refund.status === 'succeeded',
  )
  const backMinor = back.reduce((sum, { amount }) => sum + BigInt(amount), 0n)
  expect(rest.refundedMinor, `${reference} is refunded`).toBe(backMinor)
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
