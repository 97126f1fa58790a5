import { requestCancelOfInvoice } from '../payments/intents-repository.ts'
import { startOfUsage } from '../coupons/discount-lines.ts'
import { sumPendingRefunds } from '../payments/refunds-repository.ts'
import type { UnitOfWork } from '../unit-of-work/unit-of-work.ts'
import { issueCreditNote, sumCredited } from '../invoices/credit-notes.ts'
import { readCreditedLater } from '../invoices/credited-later.ts'
import {
  decideCredit,
  settledStatuses,
  type CreditDecision,
  type CreditedLine,
  type CreditRefusal,
} from '../invoices/decide-credit.ts'
import type { CreditedLater } from '../invoices/decide-credited-later.ts'
import { decideRefundCredit, sumCharged } from '../invoices/decide-refund-credit.ts'
import type { InvoiceWithLines } from '../invoices/invoice.ts'
import { soldAs } from '../invoices/issue-invoice.ts'
import { dueMinor } from '../invoices/transitions.ts'
import { atLeastZero, lesser } from '../money/amounts.ts'
import { continueAfter } from './continue-after.ts'
import type { DecidedChange, DecisionRefusal, RequestedCredit } from './invoice-decision.ts'
import { isDisputed } from './is-disputed.ts'
import type { DecidedInvoice } from './lock-decided.ts'

/**
 * Issues a credit note. It reduces what is due on an open invoice. On a paid one it credits the customer's next invoice, unless the
 * money is on its way back already: refunded or disputed money is not credited a second time.
 */
export async function creditByDecision(
  work: UnitOfWork,
  decided: DecidedInvoice,
  { reason, ...requested }: RequestedCredit & { readonly reason: string },
): Promise<DecidedChange | DecisionRefusal> {
  const { sql, providerId, now } = work
  const { invoice, isCustomerDeleted } = decided
  const { reference, status } = invoice
  const isOpen = status === 'open'
  if (!isOpen && !settledStatuses.has(status)) return { kind: 'impossible', status }
  if (soldAs(invoice.lines) === 'prepaid') return { kind: 'sold-credits' }
  if (!isOpen && (await isMoneyOnItsWayBack(work, reference))) return { kind: 'impossible', status }
  if (isCustomerDeleted) return { kind: 'customer-deleted' }
  const settles = isOpen ? 'invoice' : 'balance'
  const credited = await sumCredited(sql, providerId, reference)
  const later = await readCreditedLater(sql, providerId, invoice)
  const leftMinor = creditableMinor(invoice, credited, later.returnedMinor)
  const creditable = { credited, leftMinor, creditableByPeriod: later.creditableByPeriod }
  const decision = decidePart(invoice, creditable, requested, settles)
  switch (decision.kind) {
    case 'line':
      return decision
    case 'not-due':
      return { kind: 'amount', leftMinor: decision.dueMinor }
    case 'not-settled':
      return { kind: 'impossible', status }
    case 'nothing-left':
      return { kind: 'amount', leftMinor: decision.leftMinor }
    case 'credit': {
      if (isOpen) await requestCancelOfInvoice(sql, providerId, reference, now)
      const stored = { settles, reason, refundRef: null } as const
      const note = await issueCreditNote(work, invoice, decision, stored)
      if (isOpen) await continueAfter(work, decided)
      return { kind: 'changed', amountMinor: note.totalMinor, creditNoteRef: note.reference }
    }
  }
}

type PartDecision = CreditDecision | { readonly kind: 'nothing-left'; readonly leftMinor: bigint }

/** `credited` is keyed by the index of the invoice line. `leftMinor` is the amount that all lines together can still be credited. */
type Creditable = {
  readonly credited: ReadonlyMap<number, bigint>
  readonly leftMinor: bigint
  readonly creditableByPeriod: CreditedLater['creditableByPeriod']
}

function decidePart(
  invoice: InvoiceWithLines,
  { credited, leftMinor, creditableByPeriod }: Creditable,
  { amountMinor, lines }: RequestedCredit,
  settles: 'invoice' | 'balance',
): PartDecision {
  if (lines !== undefined) {
    const over = findOverCredited(invoice, lines, creditableByPeriod)
    if (over !== undefined) return over
    const decision = decideCredit(invoice, credited, { lines, settles })
    // A negative line, such as usage that a pack paid for later, reduces what the other lines have charged.
    const isTooMuch = decision.kind === 'credit' && decision.totalMinor > leftMinor
    return isTooMuch ? { kind: 'nothing-left', leftMinor } : decision
  }
  const due = settles === 'invoice' ? dueMinor(invoice) : leftMinor
  const mostMinor = lesser(due, leftMinor)
  if (mostMinor <= 0n) return { kind: 'nothing-left', leftMinor: mostMinor }
  const isTooMuch = amountMinor === undefined || amountMinor > mostMinor
  const wantedMinor = isTooMuch ? mostMinor : amountMinor
  const whole = { invoice, credited, amountMinor: wantedMinor, creditableByPeriod }
  const credit = decideRefundCredit(whole)
  // An amount that was carried in, or that earlier notes credited, cannot be credited here.
  const creditedMinor = credit?.totalMinor ?? 0n
  if (credit === undefined || creditedMinor <= 0n || creditedMinor < (amountMinor ?? 0n)) {
    return { kind: 'nothing-left', leftMinor: creditedMinor }
  }
  return { kind: 'credit', ...credit }
}

/** Returns the first line that credits more of its period than later bills have left of it. */
function findOverCredited(
  invoice: InvoiceWithLines,
  lines: readonly CreditedLine[],
  creditableByPeriod: Creditable['creditableByPeriod'],
): Extract<CreditRefusal, { kind: 'line' }> | undefined {
  const left = new Map(creditableByPeriod)
  for (const { line, amountMinor } of lines) {
    const charged = invoice.lines[line]
    const start = charged && startOfUsage(charged)
    const leftMinor = start === undefined ? undefined : left.get(start)
    if (start === undefined || leftMinor === undefined) continue
    if (amountMinor > leftMinor) return { kind: 'line', line, leftMinor }
    left.set(start, leftMinor - amountMinor)
  }
  return undefined
}

/**
 * Returns what the invoice itself charges and neither a credit note nor a later bill has credited, also if an earlier credit paid for
 * it.
 */
function creditableMinor(
  { lines }: InvoiceWithLines,
  credited: ReadonlyMap<number, bigint>,
  returnedMinor: bigint,
): bigint {
  const { chargedMinor, creditedMinor } = sumCharged(lines, credited)
  return atLeastZero(chargedMinor - creditedMinor - returnedMinor)
}

async function isMoneyOnItsWayBack(work: UnitOfWork, invoiceRef: string): Promise<boolean> {
  if ((await sumPendingRefunds(work.sql, work.providerId, invoiceRef)) > 0n) return true
  return isDisputed(work, invoiceRef)
}
