import type { Refund } from '@tollgate/platform/payments/payment-objects'
import { noteRepaidPeriods } from '../invoices/corrected-periods.ts'
import type { Invoice } from '../invoices/invoice.ts'
import { moveBalance } from '../invoices/move-balance.ts'
import { issueRefundCreditNote, voidRefundCreditNote } from '../invoices/refund-credit-notes.ts'
import { lockInvoice } from '../invoices/repository.ts'
import { failRefund, finishRefund, startRefund } from '../invoices/settle-invoice.ts'
import { takeGivenUpCredit } from '../invoices/take-given-up-credit.ts'
import { refundFromBalance } from '../money-ledger/balance-postings.ts'
import { postMoney } from '../money-ledger/post-money.ts'
import {
  refundFailed,
  refundPending,
  refundSettled,
  refundSucceeded,
  type SettledRefund,
} from '../money-ledger/postings.ts'
import type { UnitOfWork } from '../unit-of-work/unit-of-work.ts'
import { returnPayout } from './return-payout.ts'
import { lockWithCustomer } from '../purchases/lock-with-customer.ts'
import type { RequestedRefund } from '../payments/requested-refunds-repository.ts'
import type { PaymentIntent } from '../payments/payment-intent.ts'
import { findPostedPayment } from './post-payment.ts'
import { decideFromBalance } from './take-from-balance.ts'
import type { PaymentRefund, RefundState } from '../payments/refunds-repository.ts'

/**
 * Posts the state of a refund in the transaction that stores it, including earlier states that were not reported. If the payment
 * paid an invoice, the refund moves that invoice as well. A payout of the customer's balance moves no invoice. Returns the part of the
 * refund that is taken from the balance.
 */
export async function postRefund(
  work: UnitOfWork,
  intent: PaymentIntent,
  refund: PaymentRefund,
  settlements: Pick<Refund, 'settlement' | 'failureSettlement'>,
  hadSucceeded: boolean,
  payout: RequestedRefund | undefined,
): Promise<bigint> {
  const paid = await findPostedPayment(work, intent)
  if (paid === undefined) return 0n
  let { fromBalanceMinor } = refund
  if (paid.invoiceRef !== null) {
    // Bills lock the purchase too, so none credits the same usage meanwhile. The purchase is always locked before the invoice.
    if (payout === undefined && intent.purchaseRef !== null) {
      await lockWithCustomer(work, intent.purchaseRef)
    }
    if (hadSucceeded && payout === undefined) {
      await noteRepaidPeriods(work.sql, work.providerId, paid.invoiceRef, work.now)
    }
    fromBalanceMinor = await moveRefundedInvoice(work, paid.invoiceRef, refund, payout)
  } else if (payout === undefined) {
    await postSaleRefund(work, intent, refund, hadSucceeded)
  } else {
    throw new Error(`${intent.reference} paid no invoice`)
  }
  await postSettlementSteps(work, intent, {
    ...settlements,
    ...refund,
    id: refund.processorRefundId,
  })
  return fromBalanceMinor
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

/**
 * Returns the part of the refund that is taken from the customer's balance. A payout is taken from it as a whole. The balance was
 * reduced when the payout was requested, and gets the amount back if the refund fails.
 */
async function moveRefundedInvoice(
  work: UnitOfWork,
  invoiceRef: string,
  refund: PaymentRefund,
  payout: RequestedRefund | undefined,
): Promise<bigint> {
  const { sql, providerId } = work
  const { processorRefundId: refundRef, status, amountMinor } = refund
  const invoice = await lockInvoice(sql, providerId, invoiceRef)
  if (invoice === undefined) throw new Error(`invoice ${invoiceRef} is gone`)
  switch (status) {
    case 'pending':
      await startRefund(work, invoice, { refundRef, amountMinor })
      return refund.fromBalanceMinor
    case 'succeeded': {
      const fromBalanceMinor =
        payout === undefined ? await decideFromBalance(work, invoice, amountMinor) : amountMinor
      const movedMinor = amountMinor - fromBalanceMinor
      const refunded = await finishRefund(work, invoice, { refundRef, amountMinor, movedMinor })
      if (movedMinor > 0n) await issueRefundCreditNote(work, refunded, refundRef, movedMinor)
      const taken = { refundRef, amountMinor: fromBalanceMinor, step: 'taken' } as const
      if (payout === undefined) await moveRefundedPart(work, invoice, taken)
      return fromBalanceMinor
    }
    case 'failed':
    case 'canceled': {
      const { fromBalanceMinor } = refund
      const movedMinor = amountMinor - fromBalanceMinor
      const failed = await failRefund(work, invoice, { refundRef, amountMinor, movedMinor })
      await voidRefundCreditNote(work, invoice, refundRef)
      const back = { refundRef, amountMinor: fromBalanceMinor, step: 'returned' } as const
      if (payout === undefined) {
        await moveRefundedPart(work, invoice, back)
        await takeGivenUpCredit(work, failed)
      } else await returnPayout(work, payout, invoice, refund.failureReason ?? status)
      return fromBalanceMinor
    }
  }
}

/** Takes the part of a refund from the customer's balance, or returns it there. */
async function moveRefundedPart(
  work: UnitOfWork,
  invoice: Invoice,
  moved: { refundRef: string; amountMinor: bigint; step: 'taken' | 'returned' },
): Promise<void> {
  const { reference: invoiceRef, customerRef, currency } = invoice
  const posting = refundFromBalance({ invoiceRef, customerRef, currency, ...moved })
  await moveBalance(work, invoice, posting, `refund:${moved.refundRef}`)
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
