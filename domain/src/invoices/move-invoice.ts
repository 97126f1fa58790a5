import type { UnitOfWork } from '../unit-of-work/unit-of-work.ts'
import type { Invoice } from './invoice.ts'
import { updateInvoice } from './repository.ts'
import { decideMove, type InvoiceStatus, type InvoiceTrigger } from './transitions.ts'

/**
 * Moves an invoice whose row the caller has locked. What it does to the ledger is the caller's to post, in the same
 * transaction.
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
 * Throws where the table of transitions has no such move, or not with this amount, which the caller should have found
 * out by `decideMove`.
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
    // Only what is open is charged.
    nextChargeAt: status === 'open' ? invoice.nextChargeAt : null,
    updatedAt: now,
  }
}

function isClosed(status: InvoiceStatus): boolean {
  return status === 'void' || status === 'uncollectible'
}
