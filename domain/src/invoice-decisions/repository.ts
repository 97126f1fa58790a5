import type { Queryable } from '@tollgate/platform/database/database'
import type { InvoiceDecision } from './invoice-decision.ts'

/** A repeated request has the same key and the same input. */
export type DecisionKey = { readonly idempotencyKey: string | null; readonly inputSha256: string }

type DecisionRow = {
  reference: string
  invoice_ref: string
  kind: InvoiceDecision['kind']
  amount: string
  reason: string
  decided_by: string
  credit_note_ref: string | null
  refund_ref: string | null
  input_sha256: string
  created_at: Date
}

export async function insertDecision(
  sql: Queryable,
  providerId: string,
  decision: InvoiceDecision,
  { idempotencyKey, inputSha256 }: DecisionKey,
): Promise<void> {
  const { reference, invoiceRef, kind, amountMinor, reason, decidedBy } = decision
  const { creditNoteRef, refundRef, createdAt } = decision
  await sql`
    insert into invoice_decisions
      (provider_id, reference, invoice_ref, kind, amount, reason, decided_by, credit_note_ref,
       refund_ref, idempotency_key, input_sha256, created_at)
    values (${providerId}, ${reference}, ${invoiceRef}, ${kind}, ${amountMinor.toString()}, ${reason},
      ${decidedBy}, ${creditNoteRef}, ${refundRef}, ${idempotencyKey}, ${inputSha256}, ${createdAt})`
}

/** Returns the decision that was made under the idempotency key. */
export async function findDecisionOfKey(
  sql: Queryable,
  providerId: string,
  idempotencyKey: string,
): Promise<{ readonly decision: InvoiceDecision; readonly inputSha256: string } | undefined> {
  const [row] = await sql<DecisionRow[]>`
    select * from invoice_decisions
    where provider_id = ${providerId} and idempotency_key = ${idempotencyKey}`
  return row && { decision: fromRow(row), inputSha256: row.input_sha256 }
}

/** Returns the decisions about an invoice, oldest first. */
export async function listDecisions(
  sql: Queryable,
  providerId: string,
  invoiceRef: string,
): Promise<InvoiceDecision[]> {
  const rows = await sql<DecisionRow[]>`
    select * from invoice_decisions
    where provider_id = ${providerId} and invoice_ref = ${invoiceRef}
    order by id`
  return rows.map(fromRow)
}

function fromRow(row: DecisionRow): InvoiceDecision {
  return {
    reference: row.reference,
    invoiceRef: row.invoice_ref,
    kind: row.kind,
    amountMinor: BigInt(row.amount),
    reason: row.reason,
    decidedBy: row.decided_by,
    creditNoteRef: row.credit_note_ref,
    refundRef: row.refund_ref,
    createdAt: row.created_at,
  }
}
