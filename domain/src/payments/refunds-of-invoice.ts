import type { Queryable } from '@tollgate/platform/database/database'
import type { InvoiceRefundStatus } from '@tollgate/schemas/http/invoices'
import { isPayout } from './requested-refunds-repository.ts'

/** A refund of an invoice, requested here or at the processor. */
export type InvoiceRefund = {
  /** The reference of the request, or the processor's id if the refund was made there. */
  readonly reference: string
  readonly goesTo: 'card' | 'balance'
  /** Minor units of the invoice's currency, with the tax. */
  readonly amountMinor: bigint
  readonly status: InvoiceRefundStatus
  /** Null until the processor has the refund, and for a refund to the balance. */
  readonly processorRefundId: string | null
  readonly createdAt: Date
}

type RefundRow = {
  reference: string
  goes_to: InvoiceRefund['goesTo']
  amount: bigint
  status: InvoiceRefundStatus
  processor_refund_id: string | null
  created_at: Date
}

/**
 * Returns the refunds of an invoice, oldest first. Refunds of late payments, which the
 * invoice did not take, and payouts of the customer's balance are left out.
 */
export async function listRefundsOfInvoice(
  sql: Queryable,
  providerId: string,
  invoiceRef: string,
): Promise<InvoiceRefund[]> {
  const rows = await sql<RefundRow[]>`
    with made as (
      select refund.* from payment_refunds as refund
      join payment_intents as paid on paid.provider_id = refund.provider_id
        and paid.reference = refund.intent_ref
      where refund.provider_id = ${providerId} and paid.invoice_ref = ${invoiceRef}
        and paid.failure_reason is null
        and not ${isPayout(sql)}
    ), requested as (
      select * from requested_refunds
      where provider_id = ${providerId} and invoice_ref = ${invoiceRef}
    )
    select requested.reference, goes_to, requested.amount, requested.processor_refund_id,
      requested.created_at,
      case requested.status when 'open' then 'pending' when 'refused' then 'refused'
        else coalesce(made.status, 'succeeded') end as status
    from requested left join made on made.processor_refund_id = requested.processor_refund_id
    union all
    select made.processor_refund_id, 'card', made.amount, made.processor_refund_id, made.created_at,
      made.status
    from made where not exists (
      select from requested where requested.processor_refund_id = made.processor_refund_id)
    order by created_at, reference`
  return rows.map((row) => ({
    reference: row.reference,
    goesTo: row.goes_to,
    amountMinor: row.amount,
    status: row.status,
    processorRefundId: row.processor_refund_id,
    createdAt: row.created_at,
  }))
}
