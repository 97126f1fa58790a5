import type { Settlement } from '@tollgate/platform/payments/payment-objects'
import { postMoney } from '../money-ledger/post-money.ts'
import { paymentKey, paymentSettled, paymentSucceeded } from '../money-ledger/postings.ts'
import type { UnitOfWork } from '../unit-of-work/unit-of-work.ts'
import { findPostedTransaction, type PostedTransaction } from '../money-ledger/ledger.ts'
import type { PaymentIntent } from '../payments/payment-intent.ts'

/** Posts what was paid for nothing that could be given. What pays an invoice is posted by whoever settles that. */
export async function postUndeliverable(work: UnitOfWork, intent: PaymentIntent): Promise<void> {
  const { reference: chargeRef, customerRef, currency, originalAmountMinor: amountMinor } = intent
  const payment = { chargeRef, customerRef, currency, amountMinor, pays: 'refunds' } as const
  await postMoney(work, paymentSucceeded(payment))
}

/** The processor's fee, and what it exchanged the payment into. */
export async function postSettlement(
  work: UnitOfWork,
  intent: PaymentIntent,
  { amountMinor, currency, feeMinor, restUnits }: Settlement,
): Promise<void> {
  if ((await findPostedPayment(work, intent)) === undefined) return
  const { reference: chargeRef, customerRef, originalAmountMinor } = intent
  const charged = { currency: intent.currency, amountMinor: originalAmountMinor }
  const settled = { currency, amountMinor }
  const posting = { chargeRef, customerRef, charged, settled, feeMinor, restUnits }
  await postMoney(work, paymentSettled(posting))
}

/**
 * With the invoice that it has paid; one that came too late for it is posted without. What was paid before payments were
 * posted is not in the ledger, and so is nothing that becomes of it.
 */
export function findPostedPayment(
  { sql, providerId }: Pick<UnitOfWork, 'sql' | 'providerId'>,
  { reference }: PaymentIntent,
): Promise<PostedTransaction | undefined> {
  return findPostedTransaction(sql, providerId, paymentKey(reference))
}
