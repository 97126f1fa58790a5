import type { UnitOfWork } from '../unit-of-work/unit-of-work.ts'
import type { Invoice } from './invoice.ts'
import { updateInvoice } from './repository.ts'
import { decideMove, type InvoiceStatus, type InvoiceTrigger } from './transitions.ts'

/**
 * Moves an invoice whose row the caller has locked. Throws where the table of transitions has no such move, or not with
 * this amount, which the caller should have found out by `decideMove`. What it does to the ledger is the caller's to post,
 * in the same transaction.
 */
export async function moveInvoice<Kept extends Invoice>(
  work: Pick<UnitOfWork, 'sql' | 'providerId' | 'now'>,
  invoice: Kept,
  trigger: InvoiceTrigger,
  amountMinor = 0n,
): Promise<Kept> {
  const decision = decideMove(invoice, trigger, amountMinor)
  if (decision.kind !== 'moved') {
    throw new Error(
      `invoice ${invoice.reference} is ${invoice.status}: it cannot be ${trigger} by ${amountMinor}`,
    )
  }
  const { status } = decision.invoice
  const moved: Kept = {
    ...decision.invoice,
    paidAt: status === 'paid' ? (invoice.paidAt ?? work.now) : invoice.paidAt,
    closedAt: invoice.closedAt ?? (isClosed(status) ? work.now : null),
    updatedAt: work.now,
  }
  await updateInvoice(work.sql, work.providerId, moved)
  return moved
}

function isClosed(status: InvoiceStatus): boolean {
  return status === 'void' || status === 'uncollectible'
}
