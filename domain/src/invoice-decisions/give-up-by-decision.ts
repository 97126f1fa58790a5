import { applyPaidInvoice } from '../billing/apply-paid-invoice.ts'
import { requestCancelOfInvoice } from '../payments/intents-repository.ts'
import type { UnitOfWork } from '../unit-of-work/unit-of-work.ts'
import { voidInvoice, writeOffInvoice } from '../invoices/settle-invoice.ts'
import { decideMove, dueMinor } from '../invoices/transitions.ts'
import type { DecidedChange, DecisionRefusal } from './invoice-decision.ts'
import type { DecidedInvoice } from './lock-decided.ts'

/**
 * Voids the invoice or writes it off. Its usage stays billed, so no later invoice charges it. A purchase that was past due or
 * suspended for this invoice continues, because the customer owes it no longer.
 */
export async function giveUpByDecision(
  work: UnitOfWork,
  { invoice, purchase, startsPeriod }: DecidedInvoice,
  kind: 'voided' | 'written_off',
): Promise<DecidedChange | DecisionRefusal> {
  const trigger = kind === 'voided' ? 'voided' : 'written-off'
  const { status } = invoice
  if (status === 'draft' || decideMove(invoice, trigger).kind !== 'moved') {
    return { kind: 'impossible', status }
  }
  // The period would stay billed and never begin.
  if (startsPeriod && purchase !== undefined) {
    return { kind: 'starts-period', purchaseRef: purchase.reference }
  }
  const amountMinor = dueMinor(invoice)
  await requestCancelOfInvoice(work.sql, work.providerId, invoice.reference, work.now)
  const ended =
    kind === 'voided' ? await voidInvoice(work, invoice) : await writeOffInvoice(work, invoice)
  if (purchase !== undefined) await applyPaidInvoice(work, purchase, ended, undefined)
  return { kind: 'changed', amountMinor: amountMinor < 0n ? 0n : amountMinor }
}
