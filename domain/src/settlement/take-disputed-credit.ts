import type { Dispute } from '@tollgate/platform/payments/payment-objects'
import type { Invoice } from '../invoices/invoice.ts'
import { moveBalance } from '../invoices/move-balance.ts'
import { noteRepaidPeriods } from '../invoices/corrected-periods.ts'
import { lockInvoice } from '../invoices/repository.ts'
import { takeGivenUpCredit } from '../invoices/take-given-up-credit.ts'
import { disputeFromBalance, disputeFromBalanceKey } from '../money-ledger/balance-postings.ts'
import { findPostedAmount, findPostedTransaction } from '../money-ledger/ledger.ts'
import { withdrawalsOf } from '../payments/decide-dispute.ts'
import type { PaymentIntent } from '../payments/payment-intent.ts'
import { lockPurchase } from '../purchases/repository.ts'
import type { UnitOfWork } from '../unit-of-work/unit-of-work.ts'
import { findPostedPayment } from './post-payment.ts'
import { decideFromBalance } from './take-from-balance.ts'

/**
 * Takes from the customer's balance the credit that had returned the disputed money before, and gives it back when the bank returns
 * the money. Each withdrawal and each return is posted once, so reports of the dispute can be repeated and arrive in any order. The caller
 * has locked the payment and what its handler changes, because the invoice is locked after them.
 */
export async function takeDisputedCredit(
  work: UnitOfWork,
  intent: PaymentIntent,
  dispute: Pick<Dispute, 'id' | 'status' | 'amountMinor' | 'movements'>,
): Promise<void> {
  const invoiceRef = (await findPostedPayment(work, intent))?.invoiceRef ?? null
  if (invoiceRef === null) return
  // Bills lock the purchase too, so none credits the same usage meanwhile.
  if (intent.purchaseRef !== null) await lockPurchase(work.sql, work.providerId, intent.purchaseRef)
  const { times, isTaken } = withdrawalsOf(dispute.movements)
  // Corrections credit none of the money while the bank can keep it, so they are computed again once it cannot.
  if (dispute.status === 'won') {
    await noteRepaidPeriods(work.sql, work.providerId, invoiceRef, work.now)
  }
  if (times === 0) return
  const invoice = await lockInvoice(work.sql, work.providerId, invoiceRef)
  if (invoice === undefined) throw new Error(`invoice ${invoiceRef} is gone`)
  for (let withdrawal = 1; withdrawal <= times; withdrawal += 1) {
    const of = { disputeRef: dispute.id, withdrawal }
    await takeOnce(work, invoice, of, dispute.amountMinor)
    if (withdrawal < times || !isTaken) await returnOnce(work, invoice, of)
  }
}

type Withdrawal = { readonly disputeRef: string; readonly withdrawal: number }

async function takeOnce(
  work: UnitOfWork,
  invoice: Invoice,
  of: Withdrawal,
  disputedMinor: bigint,
): Promise<void> {
  const key = disputeFromBalanceKey({ ...of, step: 'taken' })
  if ((await findPostedTransaction(work.sql, work.providerId, key)) !== undefined) return
  const amountMinor = await decideFromBalance(work, invoice, disputedMinor)
  if (amountMinor <= 0n) return
  await move(work, invoice, of, 'taken', amountMinor)
}

async function returnOnce(work: UnitOfWork, invoice: Invoice, of: Withdrawal): Promise<void> {
  const key = disputeFromBalanceKey({ ...of, step: 'taken' })
  const takenMinor = await findPostedAmount(work.sql, work.providerId, key, 'carried')
  if (takenMinor === 0n) return
  await move(work, invoice, of, 'returned', takenMinor)
  await takeGivenUpCredit(work, invoice)
}

async function move(
  work: UnitOfWork,
  invoice: Invoice,
  of: Withdrawal,
  step: 'taken' | 'returned',
  amountMinor: bigint,
): Promise<void> {
  const { reference: invoiceRef, customerRef, currency } = invoice
  const posting = disputeFromBalance({
    ...of,
    ...{ invoiceRef, customerRef, currency, step, amountMinor },
  })
  await moveBalance(work, invoice, posting, `dispute:${of.disputeRef}:${of.withdrawal}`)
}
