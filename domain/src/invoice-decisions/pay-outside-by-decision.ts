import { generateReference } from '../unit-of-work/generate-reference.ts'
import type { UnitOfWork } from '../unit-of-work/unit-of-work.ts'
import { requestCancelOfInvoice } from '../payments/intents-repository.ts'
import { payInvoiceOutside } from '../invoices/settle-invoice.ts'
import { decideMove, dueMinor } from '../invoices/transitions.ts'
import { continueAfter } from './continue-after.ts'
import type { DecidedChange, DecisionRefusal } from './invoice-decision.ts'
import type { DecidedInvoice } from './lock-decided.ts'

/** Records a payment that the provider received without the payment processor. `amountMinor`: without it, all that is due. */
export async function payOutsideByDecision(
  work: UnitOfWork,
  decided: DecidedInvoice,
  amountMinor = dueMinor(decided.invoice),
): Promise<DecidedChange | DecisionRefusal> {
  const { invoice } = decided
  const decision = decideMove(invoice, 'paid', amountMinor)
  if (decision.kind === 'impossible') return { kind: 'impossible', status: invoice.status }
  if (decision.kind === 'amount') return decision
  await requestCancelOfInvoice(work.sql, work.providerId, invoice.reference, work.now)
  const paymentRef = generateReference('transaction')
  await payInvoiceOutside(work, invoice, { paymentRef, amountMinor })
  await continueAfter(work, decided)
  return { kind: 'changed', amountMinor }
}
