import type { Settlement } from '@tollgate/platform/payments/payment-objects'
import { postMoney } from '../money-ledger/post-money.ts'
import { paymentKey, paymentSettled, paymentSucceeded } from '../money-ledger/postings.ts'
import type { UnitOfWork } from '../unit-of-work/unit-of-work.ts'
import { findPostedTransaction, type PostedTransaction } from '../money-ledger/ledger.ts'
import type { PaymentIntent } from '../payments/payment-intent.ts'

/** Posts a payment that could not be delivered. Payments of invoices are posted by the code that settles the invoice. */
export async function postUndeliverable(work: UnitOfWork, intent: PaymentIntent): Promise<void> {
  const { reference: chargeRef, customerRef, currency, originalAmountMinor: amountMinor } = intent
  const payment = { chargeRef, customerRef, currency, amountMinor, pays: 'refunds' } as const
  await postMoney(work, paymentSucceeded(payment))
}

/** Posts the processor's fee and the currency conversion of a payment. */
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
 * Returns the posted payment with the invoice that it paid. A payment that came too late for its invoice is posted without one.
 * Payments from before the ledger existed are not posted, and neither are their refunds and disputes.
 */
export function findPostedPayment(
  { sql, providerId }: Pick<UnitOfWork, 'sql' | 'providerId'>,
  { reference }: PaymentIntent,
): Promise<PostedTransaction | undefined> {
  return findPostedTransaction(sql, providerId, paymentKey(reference))
}
