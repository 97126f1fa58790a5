import type { Queryable } from '@tollgate/platform/database/database'
import type { PaidWith } from './payment-intent.ts'
import { latestDisputes, type PaymentDispute } from '../invoices/disputes.ts'

/** What paid an invoice, as a receipt says it. */
export type InvoicePayment = {
  /** Clients know it as the transaction. */
  readonly reference: string
  /** Minor units of the invoice's currency. */
  readonly amountMinor: bigint
  readonly paidAt: Date
  /** Null: by no card, or before that was kept. */
  readonly paidWith: PaidWith | null
  /** Null: the customer's bank never asked for the money. */
  readonly dispute: PaymentDispute | null
}

type PaymentRow = {
  invoice_ref: string
  reference: string
  original_amount: bigint
  succeeded_at: Date
  paid_with: PaidWith | null
}

/** By invoice, the oldest first; those that are not paid are not there. What came too late for one, and was paid back, is none. */
export async function listPaymentsOf(
  sql: Queryable,
  providerId: string,
  invoiceRefs: readonly string[],
): Promise<Map<string, InvoicePayment[]>> {
  const payments = new Map<string, InvoicePayment[]>()
  if (invoiceRefs.length === 0) return payments
  const rows = await sql<PaymentRow[]>`
    select invoice_ref, reference, original_amount, succeeded_at, paid_with from payment_intents
    where provider_id = ${providerId} and invoice_ref = any(${[...invoiceRefs]})
      and status = 'succeeded' and failure_reason is null
    order by succeeded_at, reference`
  const disputes = await latestDisputes(sql, providerId, invoiceRefs)
  for (const row of rows) {
    const { reference, original_amount: amountMinor, succeeded_at: paidAt } = row
    const dispute = disputes.get(reference) ?? null
    const payment = { reference, amountMinor, paidAt, paidWith: row.paid_with, dispute }
    payments.set(row.invoice_ref, [...(payments.get(row.invoice_ref) ?? []), payment])
  }
  return payments
}
