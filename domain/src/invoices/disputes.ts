import type { Queryable } from '@tollgate/platform/database/database'
import type { InvoiceDispute } from '@tollgate/schemas/http/invoices'

/** Latest dispute of a payment: open, lost, or won. `lost` means that the customer's bank keeps the money. */
export type PaymentDispute = {
  readonly status: InvoiceDispute
  /** Minor units of the payment's currency. */
  readonly amountMinor: bigint
}

/** Returns the latest dispute of each payment of the invoices, keyed by the payment intent's reference. */
export async function listLatestDisputes(
  sql: Queryable,
  providerId: string,
  invoiceRefs: readonly string[],
): Promise<Map<string, PaymentDispute>> {
  if (invoiceRefs.length === 0) return new Map()
  const rows = await sql<{ intent_ref: string; status: InvoiceDispute; amount: bigint }[]>`
    select distinct on (intent_ref) intent_ref, dispute.amount,
      case when dispute.status in ('won', 'lost') then dispute.status else 'open' end as status
    from payment_intents as paid
    join payment_disputes as dispute
      on dispute.provider_id = paid.provider_id and intent_ref = paid.reference
    where paid.provider_id = ${providerId} and invoice_ref = any(${[...invoiceRefs]})
      and dispute.status in ('needs_response', 'under_review', 'won', 'lost')
    order by intent_ref, dispute.created_at desc`
  return new Map(
    rows.map(({ intent_ref, status, amount }) => [intent_ref, { status, amountMinor: amount }]),
  )
}

/** Disputes whose money the customer's bank has withdrawn or may withdraw. */
export const statusesNotWon = ['needs_response', 'under_review', 'lost'] as const

/** Returns whether any dispute of the invoice's payments is open or lost, also one that is older than a dispute that was won. */
export async function hasDisputeNotWon(
  sql: Queryable,
  providerId: string,
  invoiceRef: string,
): Promise<boolean> {
  const rows = await sql`
    select 1 from payment_intents as paid
    join payment_disputes as dispute
      on dispute.provider_id = paid.provider_id and intent_ref = paid.reference
    where paid.provider_id = ${providerId} and invoice_ref = ${invoiceRef}
      and dispute.status in ${sql(statusesNotWon)}
    limit 1`
  return rows.length > 0
}

const severity: Readonly<Record<InvoiceDispute, number>> = { won: 0, open: 1, lost: 2 }

/**
 * Returns the worst dispute of an invoice's payments: `lost`, then `open`, then `won`. Returns null if there is none.
 */
export function worstDispute(
  payments: readonly { readonly dispute: PaymentDispute | null }[],
): InvoiceDispute | null {
  const found = payments.flatMap(({ dispute }) => dispute?.status ?? [])
  return found.toSorted((a, b) => severity[b] - severity[a])[0] ?? null
}
