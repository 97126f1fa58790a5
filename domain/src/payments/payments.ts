import type { Queryable } from '@tollgate/platform/database/database'
import type { PaidWith } from './payment-intent.ts'
import { listLatestDisputes, type PaymentDispute } from '../invoices/disputes.ts'

/** A payment of an invoice, as shown on a receipt. */
export type InvoicePayment = {
  /** The transaction reference in the API. */
  readonly reference: string
  /** Amount in minor units of the invoice's currency. */
  readonly amountMinor: bigint
  readonly paidAt: Date
  /** The card that paid; null if the payment was not made by card, or was made before cards were stored. */
  readonly paidWith: PaidWith | null
  /** The latest dispute of the payment; null if it was never disputed. */
  readonly dispute: PaymentDispute | null
}

type PaymentRow = {
  invoice_ref: string
  reference: string
  original_amount: string
  succeeded_at: Date
  paid_with: PaidWith | null
}

/**
 * Returns the successful payments of each invoice, oldest first, with those that did not use the payment processor. An invoice
 * without payments has no entry. Late payments that were refunded are left out.
 */
export async function listPaymentsOf(
  sql: Queryable,
  providerId: string,
  invoiceRefs: readonly string[],
): Promise<Map<string, InvoicePayment[]>> {
  const payments = new Map<string, InvoicePayment[]>()
  if (invoiceRefs.length === 0) return payments
  const rows = await sql<PaymentRow[]>`
    select invoice_ref, reference, original_amount::numeric, succeeded_at, paid_with
    from payment_intents
    where provider_id = ${providerId} and invoice_ref = any(${[...invoiceRefs]})
      and status = 'succeeded' and failure_reason is null and original_amount > 0
    union all
    select invoice_ref, reference, amount, created_at, null from invoice_decisions
    where provider_id = ${providerId} and invoice_ref = any(${[...invoiceRefs]})
      and kind = 'paid_outside'
    order by succeeded_at, reference`
  const disputes = await listLatestDisputes(sql, providerId, invoiceRefs)
  for (const row of rows) {
    const { reference, original_amount: amount, succeeded_at: paidAt } = row
    const amountMinor = BigInt(amount)
    const dispute = disputes.get(reference) ?? null
    const payment = { reference, amountMinor, paidAt, paidWith: row.paid_with, dispute }
    payments.set(row.invoice_ref, [...(payments.get(row.invoice_ref) ?? []), payment])
  }
  return payments
}
