import { issueCreditNote, sumCredited } from '../invoices/credit-notes.ts'
import { readCreditedLater } from '../invoices/credited-later.ts'
import type { CreditedLater } from '../invoices/decide-credited-later.ts'
import { decideRefundCredit, sumCharged } from '../invoices/decide-refund-credit.ts'
import type { InvoiceStatus } from '../invoices/transitions.ts'
import { moveInvoice } from '../invoices/move-invoice.ts'
import { sumPendingRefunds } from '../payments/refunds-repository.ts'
import { sumLeftOnCard } from '../payments/sum-left-on-card.ts'
import {
  insertRequestedRefund,
  type RequestedRefund,
} from '../payments/requested-refunds-repository.ts'
import { applyReturnToBalance } from '../purposes/return-to-balance.ts'
import { generateReference } from '../unit-of-work/generate-reference.ts'
import type { UnitOfWork } from '../unit-of-work/unit-of-work.ts'
import { totalOf } from '../pricing/invoice-line.ts'
import { decideRefundable, paidByBalance } from './decide-refundable.ts'
import type { DecidedChange, DecisionRefusal, RequestedReturn } from './invoice-decision.ts'
import { isDisputed } from './is-disputed.ts'
import type { DecidedInvoice } from './lock-decided.ts'

/**
 * Returns what was paid of an invoice. A refund to the balance is credited to the customer's next invoice at once. For a refund to the
 * card, only the request is stored here: the caller makes the call at the processor after the commit, and a job makes it if the caller
 * dies before. The credit note follows when the processor has paid the refund.
 */
export async function refundByDecision(
  work: UnitOfWork,
  decided: DecidedInvoice,
  { goesTo, amountMinor: wantedMinor, reason }: RequestedReturn & { readonly reason: string },
): Promise<DecidedChange | DecisionRefusal> {
  const { sql, providerId, now } = work
  const { invoice, paidIntent, isCustomerDeleted } = decided
  const { reference: invoiceRef, status, currency } = invoice
  if (!canBeReturned(status, goesTo)) return { kind: 'impossible', status }
  if (await isDisputed(work, invoiceRef)) return { kind: 'impossible', status }
  if (goesTo === 'balance' && isCustomerDeleted) return { kind: 'customer-deleted' }
  const returned = {
    credited: await sumCredited(sql, providerId, invoiceRef),
    later: await readCreditedLater(sql, providerId, invoice),
    pendingMinor: await sumPendingRefunds(sql, providerId, invoiceRef),
  }
  const leftMinor = await readRefundable(work, decided, returned, goesTo)
  if (status === 'refunded' && leftMinor <= 0n) return { kind: 'impossible', status }
  const amountMinor = wantedMinor ?? leftMinor
  if (leftMinor <= 0n || amountMinor > leftMinor) {
    return { kind: 'amount', leftMinor: leftMinor > 0n ? leftMinor : 0n }
  }
  const refundRef = generateReference('refund')
  const intentRef = paidIntent?.reference ?? null
  const of = { reference: refundRef, invoiceRef, payoutRef: null, intentRef }
  await insertRequestedRefund(sql, providerId, { ...of, goesTo, amountMinor, currency }, now)
  if (goesTo === 'card') return { kind: 'changed', amountMinor, refundRef }
  const refund = { id: refundRef, amountMinor, reason }
  const creditNoteRef = await returnToBalance(work, decided, returned, refund)
  return { kind: 'changed', amountMinor, refundRef, creditNoteRef }
}

/** After the refund of all that the customer paid, the balance can still get back what it had paid. */
function canBeReturned(status: InvoiceStatus, goesTo: RequestedReturn['goesTo']): boolean {
  if (status === 'refunded') return goesTo === 'balance'
  return status === 'paid' || status === 'partly_refunded'
}

/** The parts of the invoice that are credited already, by its notes or later bills, and those on their way back to the card. */
type Returned = {
  readonly credited: Awaited<ReturnType<typeof sumCredited>>
  readonly later: CreditedLater
  readonly pendingMinor: bigint
}

/** Returns how much of the invoice can be returned now. Minor units. */
async function readRefundable(
  { sql, providerId }: UnitOfWork,
  { invoice, paidIntent }: DecidedInvoice,
  { credited, later, pendingMinor }: Returned,
  goesTo: RequestedRefund['goesTo'],
): Promise<bigint> {
  const { lines, paidMinor, refundedMinor, carriedMinor } = invoice
  const { chargedMinor, creditedMinor } = sumCharged(lines, credited)
  const amounts = {
    keptMinor: paidMinor - refundedMinor,
    creditableMinor: chargedMinor - creditedMinor - later.returnedMinor,
    pendingMinor,
  }
  if (goesTo === 'balance') {
    const carriedInMinor = totalOf(lines) - chargedMinor
    return decideRefundable({
      ...amounts,
      goesTo,
      fromBalanceMinor: paidByBalance({ carriedInMinor, carriedMinor }),
    })
  }
  const onCardMinor =
    paidIntent === undefined ? 0n : await sumLeftOnCard(sql, providerId, paidIntent)
  return decideRefundable({ ...amounts, goesTo, onCardMinor })
}

/**
 * Returns the reference of the credit note. What the customer paid is returned first, as far as it is not on its way back to the card,
 * and then what the balance had paid, which the invoice does not count as paid.
 */
async function returnToBalance(
  work: UnitOfWork,
  { invoice, paidIntent }: DecidedInvoice,
  { credited, later, pendingMinor }: Returned,
  { id, amountMinor, reason }: { id: string; amountMinor: bigint; reason: string },
): Promise<string> {
  const { creditableByPeriod } = later
  const credit = decideRefundCredit({ invoice, credited, amountMinor, creditableByPeriod })
  if (credit?.totalMinor !== amountMinor) {
    throw new Error(`${amountMinor} of invoice ${invoice.reference} cannot be credited`)
  }
  const keptMinor = invoice.paidMinor - invoice.refundedMinor - pendingMinor
  const paidMinor = amountMinor < keptMinor ? amountMinor : keptMinor
  const moved = paidMinor > 0n ? await moveInvoice(work, invoice, 'refunded', paidMinor) : invoice
  const stored = { settles: 'balance', reason, refundRef: null } as const
  const note = await issueCreditNote(work, moved, credit, stored)
  await applyReturnToBalance(work, moved, paidIntent, { id, amountMinor })
  return note.reference
}
