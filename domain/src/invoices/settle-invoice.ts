import {
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
import type { Invoice, InvoiceWithLines } from './invoice.ts'
import { issuedOf } from './issue-invoice.ts'
import { moveInvoice } from './move-invoice.ts'
import { dueMinor } from './transitions.ts'

/*
 * What happens to an issued invoice whose row the caller has locked: the move and its posting, in one transaction. What the
 * processor tells is done once for each name that it has there: told again, it changes nothing.
 */

export type Charge = { readonly chargeRef: string; readonly amountMinor: bigint }

/** The processor has the money. */
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
  return moveInvoice(work, invoice, 'paid', amountMinor)
}

/** Nobody expects it to be paid any more. Should it be after all, that is booked against what was written off. */
export async function writeOffInvoice<Kept extends Invoice>(
  work: UnitOfWork,
  invoice: Kept,
): Promise<Kept> {
  const { reference: invoiceRef, customerRef, currency } = invoice
  const amountMinor = dueMinor(invoice)
  const moved = await moveInvoice(work, invoice, 'written-off')
  await postMoney(work, invoiceWrittenOff({ invoiceRef, customerRef, currency, amountMinor }))
  return moved
}

/** As if it had never been issued. Its periods stay billed: what should be charged for them is another invoice. */
export async function voidInvoice(
  work: UnitOfWork,
  invoice: InvoiceWithLines,
): Promise<InvoiceWithLines> {
  const issued = issuedOf(invoice)
  const moved = await moveInvoice(work, invoice, 'voided')
  if (invoice.status !== 'draft') await postMoney(work, invoiceVoided(issued))
  await addCarried(work.sql, work.providerId, invoice, issued.carriedInMinor, work.now)
  return moved
}

export type Refund = { readonly refundRef: string; readonly amountMinor: bigint }

/** The processor has taken the refund on: the money is on its way, and the invoice stays paid until it has arrived. */
export async function startRefund(
  work: UnitOfWork,
  invoice: Invoice,
  refund: Refund,
): Promise<void> {
  await postMoney(work, refundPending(ofInvoice(invoice, refund)))
}

/** The money is back with the customer. A refund that has failed since is not one that succeeded. */
export async function finishRefund<Kept extends Invoice>(
  work: UnitOfWork,
  invoice: Kept,
  refund: Refund,
): Promise<Kept> {
  const named = ofInvoice(invoice, refund)
  if (await wasPosted(work, refundFailed({ ...named, hadSucceeded: true }).key)) return invoice
  await postMoney(work, refundPending(named))
  if ((await postMoney(work, refundSucceeded(named))) === 'repeated') return invoice
  return moveInvoice(work, invoice, 'refunded', refund.amountMinor)
}

/** The money did not arrive, or came back after it had. */
export async function failRefund<Kept extends Invoice>(
  work: UnitOfWork,
  invoice: Kept,
  refund: Refund,
): Promise<Kept> {
  const named = ofInvoice(invoice, refund)
  const hadSucceeded = await wasPosted(work, refundSucceeded(named).key)
  await postMoney(work, refundPending(named))
  const posted = await postMoney(work, refundFailed({ ...named, hadSucceeded }))
  if (posted === 'repeated' || !hadSucceeded) return invoice
  return moveInvoice(work, invoice, 'refund-undone', refund.amountMinor)
}

function ofInvoice({ reference: invoiceRef, customerRef, currency }: Invoice, refund: Refund) {
  return { ...refund, invoiceRef, customerRef, currency }
}

async function wasPosted({ sql, providerId }: UnitOfWork, key: string): Promise<boolean> {
  return (await findPostedTransaction(sql, providerId, key)) !== undefined
}
