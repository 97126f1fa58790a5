import {
  invoicePaidOutside,
  invoiceVoided,
  invoiceWrittenOff,
  paymentSucceeded,
  refundFailed,
  refundPending,
  refundSucceeded,
} from '../money-ledger/postings.ts'
import { postMoney } from '../money-ledger/post-money.ts'
import type { UnitOfWork } from '../unit-of-work/unit-of-work.ts'
import { findPostedTransaction } from '../money-ledger/ledger.ts'
import { addCarried } from './carried-amounts.ts'
import { noteRepaidPeriods } from './corrected-periods.ts'
import type { Invoice, InvoiceWithLines } from './invoice.ts'
import { toIssuedInvoice } from './issue-invoice.ts'
import { moveInvoice } from './move-invoice.ts'
import { returnVoidedCredits, takeGivenUpCredit } from './take-given-up-credit.ts'
import { dueMinor } from './transitions.ts'

/*
 * Changes to an issued invoice whose row the caller has locked: the move and its ledger posting, in one transaction. A
 * report from the processor is applied once per charge or refund reference, so a repeated report changes nothing.
 */

export type Charge = { readonly chargeRef: string; readonly amountMinor: bigint }

/** Records a successful charge of the invoice. */
export async function payInvoice<Kept extends Invoice>(
  work: UnitOfWork,
  invoice: Kept,
  { chargeRef, amountMinor }: Charge,
): Promise<Kept> {
  const { customerRef, currency, closedAt } = invoice
  const pays = closedAt === null ? 'receivable' : 'written_off'
  const money = { customerRef, currency, amountMinor, invoiceRef: invoice.reference }
  const payment = { chargeRef, ...money, pays } as const
  if ((await postMoney(work, paymentSucceeded(payment))) === 'repeated') return invoice
  return movePaid(work, invoice, amountMinor)
}

/** Records a payment of the invoice that the provider received without the payment processor. */
export async function payInvoiceOutside<Kept extends Invoice>(
  work: UnitOfWork,
  invoice: Kept,
  { paymentRef, amountMinor }: { readonly paymentRef: string; readonly amountMinor: bigint },
): Promise<Kept> {
  const { reference: invoiceRef, customerRef, currency, closedAt } = invoice
  const pays = closedAt === null ? 'receivable' : 'written_off'
  const money = { invoiceRef, customerRef, currency, amountMinor }
  await postMoney(work, invoicePaidOutside({ ...money, paymentRef, pays }))
  return movePaid(work, invoice, amountMinor)
}

/**
 * Moves the invoice by a payment. As far as an invoice is paid after it was written off, its usage is billed again: corrections credit it
 * again, and the balance gets back the credits that were taken from it.
 */
async function movePaid<Kept extends Invoice>(
  work: UnitOfWork,
  invoice: Kept,
  amountMinor: bigint,
): Promise<Kept> {
  if (invoice.closedAt === null) return moveInvoice(work, invoice, 'paid', amountMinor)
  await noteRepaidPeriods(work.sql, work.providerId, invoice.reference, work.now)
  const moved = await moveInvoice(work, invoice, 'paid', amountMinor)
  await takeGivenUpCredit(work, moved)
  return moved
}

/**
 * Writes the invoice off as uncollectible. If it is paid later after all, the payment is posted against the amount that
 * was written off. The caller has locked the purchase.
 */
export async function writeOffInvoice<Kept extends Invoice>(
  work: UnitOfWork,
  invoice: Kept,
): Promise<Kept> {
  const { reference: invoiceRef, customerRef, currency } = invoice
  const amountMinor = dueMinor(invoice)
  const moved = await moveInvoice(work, invoice, 'written-off')
  await postMoney(work, invoiceWrittenOff({ invoiceRef, customerRef, currency, amountMinor }))
  await takeGivenUpCredit(work, moved)
  return moved
}

/**
 * Voids the invoice, as if it had never been issued, and returns the amount that it had taken over from earlier
 * invoices. Its periods stay billed, so nothing charges them again automatically. To charge them, make another invoice.
 */
export async function voidInvoice(
  work: UnitOfWork,
  invoice: InvoiceWithLines,
): Promise<InvoiceWithLines> {
  const issued = toIssuedInvoice(invoice)
  const moved = await moveInvoice(work, invoice, 'voided')
  if (invoice.status !== 'draft') await postMoney(work, invoiceVoided(issued))
  await addCarried(work.sql, work.providerId, invoice, issued.carriedInMinor, work.now)
  await takeGivenUpCredit(work, moved)
  await returnVoidedCredits(work, moved)
  return moved
}

/** `movedMinor`: the part of the amount that the invoice loses. The rest was credited to the customer's balance before. */
export type Refund = {
  readonly refundRef: string
  readonly amountMinor: bigint
  readonly movedMinor?: bigint
}

/** Records that the processor has accepted the refund. The invoice stays paid until the refund succeeds. */
export async function startRefund(
  work: UnitOfWork,
  invoice: Invoice,
  refund: Refund,
): Promise<void> {
  await postMoney(work, refundPending(refundOfInvoice(invoice, refund)))
}

/**
 * Records that the refund succeeded. Does nothing if the same refund was recorded before, or has failed after it
 * succeeded.
 */
export async function finishRefund<Kept extends Invoice>(
  work: UnitOfWork,
  invoice: Kept,
  refund: Refund,
): Promise<Kept> {
  const named = refundOfInvoice(invoice, refund)
  if (await isPosted(work, refundFailed({ ...named, hadSucceeded: true }).key)) return invoice
  await postMoney(work, refundPending(named))
  if ((await postMoney(work, refundSucceeded(named))) === 'repeated') return invoice
  const movedMinor = refund.movedMinor ?? refund.amountMinor
  return movedMinor === 0n ? invoice : moveInvoice(work, invoice, 'refunded', movedMinor)
}

/** Records that the refund failed, or that its money came back after it had succeeded. */
export async function failRefund<Kept extends Invoice>(
  work: UnitOfWork,
  invoice: Kept,
  refund: Refund,
): Promise<Kept> {
  const named = refundOfInvoice(invoice, refund)
  const hadSucceeded = await isPosted(work, refundSucceeded(named).key)
  await postMoney(work, refundPending(named))
  const posted = await postMoney(work, refundFailed({ ...named, hadSucceeded }))
  const movedMinor = refund.movedMinor ?? refund.amountMinor
  if (posted === 'repeated' || !hadSucceeded || movedMinor === 0n) return invoice
  return moveInvoice(work, invoice, 'refund-undone', movedMinor)
}

function refundOfInvoice(
  { reference: invoiceRef, customerRef, currency }: Invoice,
  { refundRef, amountMinor }: Refund,
) {
  return { refundRef, amountMinor, invoiceRef, customerRef, currency }
}

async function isPosted({ sql, providerId }: UnitOfWork, key: string): Promise<boolean> {
  return (await findPostedTransaction(sql, providerId, key)) !== undefined
}
