import type { Refund } from '@tollgate/platform/payments/payment-objects'
import { issueRefundCreditNote, voidRefundCreditNote } from '../invoices/refund-credit-notes.ts'
import { lockInvoice } from '../invoices/repository.ts'
import { failRefund, finishRefund, startRefund } from '../invoices/settle-invoice.ts'
import { postMoney } from '../money-ledger/post-money.ts'
import {
  refundFailed,
  refundPending,
  refundSettled,
  refundSucceeded,
  type SettledRefund,
} from '../money-ledger/postings.ts'
import type { UnitOfWork } from '../unit-of-work/unit-of-work.ts'
import type { PaymentIntent } from '../payments/payment-intent.ts'
import { findPostedPayment } from './post-payment.ts'
import type { PaymentRefund, RefundState } from '../payments/refunds-repository.ts'

/**
 * Posts the state of a refund in the transaction that stores it, including earlier states that were not reported. If the payment
 * paid an invoice, the refund moves that invoice as well.
 */
export async function postRefund(
  work: UnitOfWork,
  intent: PaymentIntent,
  refund: PaymentRefund,
  settlements: Pick<Refund, 'settlement' | 'failureSettlement'>,
  hadSucceeded: boolean,
): Promise<void> {
  const paid = await findPostedPayment(work, intent)
  if (paid === undefined) return
  if (paid.invoiceRef === null) await postSaleRefund(work, intent, refund, hadSucceeded)
  else await moveRefundedInvoice(work, paid.invoiceRef, refund)
  await postSettlementSteps(work, intent, {
    ...settlements,
    ...refund,
    id: refund.processorRefundId,
  })
}

async function postSaleRefund(
  work: UnitOfWork,
  { customerRef }: PaymentIntent,
  { processorRefundId: refundRef, status, amountMinor, taxMinor, currency }: PaymentRefund,
  hadSucceeded: boolean,
): Promise<void> {
  const refund = { refundRef, customerRef, currency, amountMinor, taxMinor }
  await postMoney(work, refundPending(refund))
  switch (status) {
    case 'pending':
      return
    case 'succeeded':
      await postMoney(work, refundSucceeded(refund))
      return
    case 'failed':
    case 'canceled':
      await postMoney(work, refundFailed({ ...refund, hadSucceeded }))
  }
}

async function moveRefundedInvoice(
  work: UnitOfWork,
  invoiceRef: string,
  { processorRefundId: refundRef, status, amountMinor }: PaymentRefund,
): Promise<void> {
  const invoice = await lockInvoice(work.sql, work.providerId, invoiceRef)
  if (invoice === undefined) throw new Error(`invoice ${invoiceRef} is gone`)
  const refund = { refundRef, amountMinor }
  switch (status) {
    case 'pending':
      return startRefund(work, invoice, refund)
    case 'succeeded': {
      const refunded = await finishRefund(work, invoice, refund)
      await issueRefundCreditNote(work, refunded, refundRef, amountMinor)
      return
    }
    case 'failed':
    case 'canceled':
      await failRefund(work, invoice, refund)
      await voidRefundCreditNote(work, invoice, refundRef)
  }
}

/** Posts the reported part of a refund's effect on the processor's balance, each part once. */
export async function postRefundSettlement(
  work: UnitOfWork,
  intent: PaymentIntent,
  refund: RefundSettlement,
): Promise<void> {
  if ((await findPostedPayment(work, intent)) !== undefined)
    await postSettlementSteps(work, intent, refund)
}

type RefundSettlement = Pick<
  Refund,
  'id' | 'amountMinor' | 'currency' | 'settlement' | 'failureSettlement'
> & {
  readonly status: RefundState
}

/**
 * Posts what the refund took from the processor's balance. If it failed, the returned amount is posted too, which can differ from
 * the amount taken.
 */
async function postSettlementSteps(
  work: UnitOfWork,
  { customerRef }: PaymentIntent,
  { id: refundRef, status, amountMinor, currency, settlement, failureSettlement }: RefundSettlement,
): Promise<void> {
  const post = async (
    step: SettledRefund['step'],
    chargedMinor: bigint,
    { feeMinor, restUnits, ...settled }: NonNullable<Refund['settlement']>,
  ) => {
    const charged = { currency, amountMinor: chargedMinor }
    const posting = { customerRef, refundRef, step, charged, settled, feeMinor, restUnits }
    await postMoney(work, refundSettled(posting))
  }
  if (status === 'pending' || settlement === undefined) return
  if (status === 'succeeded') return post('settled', -amountMinor, settlement)
  if (failureSettlement === undefined) return
  await post('settled', -amountMinor, settlement)
  await post('failure-settled', amountMinor, failureSettlement)
}
