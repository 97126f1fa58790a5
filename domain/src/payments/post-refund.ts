import type { Refund } from '@tollgate/platform/payments/payment-objects'
import { postMoney } from '../money-ledger/post-money.ts'
import {
  refundFailed,
  refundPending,
  refundSettled,
  refundSucceeded,
  type SettledRefund,
} from '../money-ledger/postings.ts'
import type { UnitOfWork } from '../unit-of-work/unit-of-work.ts'
import type { PaymentIntent } from './payment-intent.ts'
import { isPosted } from './post-payment.ts'
import type { PaymentRefund } from './refunds-repository.ts'

/** Posts what has become of a refund, in the transaction that keeps it; with all that came before and was not told of. */
export async function postRefund(
  work: UnitOfWork,
  intent: PaymentIntent,
  { processorRefundId: refundRef, status, amountMinor, taxMinor, currency }: PaymentRefund,
  { settlement, failureSettlement }: Pick<Refund, 'settlement' | 'failureSettlement'>,
  hadSucceeded: boolean,
): Promise<void> {
  if (!(await isPosted(work, intent))) return
  const { customerRef } = intent
  const refund = { refundRef, customerRef, currency, amountMinor, taxMinor }
  await postMoney(work, refundPending(refund))
  if (status === 'pending') return
  const settle = async (step: SettledRefund['step'], sign: 1n | -1n, by: Refund['settlement']) => {
    if (by === undefined) return
    const { feeMinor, ...settled } = by
    const charged = { currency, amountMinor: sign * amountMinor }
    await postMoney(
      work,
      refundSettled({ customerRef, refundRef, step, charged, settled, feeMinor }),
    )
  }
  if (status === 'succeeded') {
    await postMoney(work, refundSucceeded(refund))
    return settle('settled', -1n, settlement)
  }
  await postMoney(work, refundFailed({ ...refund, hadSucceeded }))
  // What came back may be another amount of the balance's currency than what had gone.
  if (settlement === undefined || failureSettlement === undefined) return
  await settle('settled', -1n, settlement)
  await settle('failure-settled', 1n, failureSettlement)
}
