import type { UnitOfWork } from '../unit-of-work/unit-of-work.ts'
import type { Invoice } from './invoice.ts'
import { updateInvoice } from './repository.ts'
import { decideMove, type InvoiceStatus, type InvoiceTrigger } from './transitions.ts'

/**
 * Moves an invoice whose row the caller has locked, and stores it. The caller posts the matching ledger transaction in
 * the same database transaction.
 */
export async function moveInvoice<Kept extends Invoice>(
  work: Pick<UnitOfWork, 'sql' | 'providerId' | 'now'>,
  invoice: Kept,
  trigger: InvoiceTrigger,
  amountMinor = 0n,
): Promise<Kept> {
  const moved = movedInvoice(invoice, trigger, amountMinor, work.now)
  await updateInvoice(work.sql, work.providerId, moved)
  return moved
}

/**
 * Returns the moved invoice without storing it. Throws if the transition table has no such move, or does not allow this
 * amount. Callers that cannot be sure check with `decideMove` first.
 */
export function movedInvoice<Kept extends Invoice>(
  invoice: Kept,
  trigger: InvoiceTrigger,
  amountMinor: bigint,
  now: Date,
): Kept {
  const decision = decideMove(invoice, trigger, amountMinor)
  if (decision.kind !== 'moved') {
    throw new Error(
      `invoice ${invoice.reference} is ${invoice.status}: it cannot be ${trigger} by ${amountMinor}`,
    )
  }
  const { status } = decision.invoice
  return {
    ...decision.invoice,
    paidAt: status === 'paid' ? (invoice.paidAt ?? now) : invoice.paidAt,
    closedAt: invoice.closedAt ?? (isClosed(status) ? now : null),
    // Only open invoices are charged.
    nextChargeAt: status === 'open' ? invoice.nextChargeAt : null,
    updatedAt: now,
  }
}

function isClosed(status: InvoiceStatus): boolean {
  return status === 'void' || status === 'uncollectible'
}
