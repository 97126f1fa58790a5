import type { Settlement } from '@tollgate/platform/payments/payment-objects'
import { postMoney } from '../money-ledger/post-money.ts'
import {
  paymentKey,
  paymentSettled,
  paymentSucceeded,
  type Money,
  type PaymentUse,
} from '../money-ledger/postings.ts'
import type { UnitOfWork } from '../unit-of-work/unit-of-work.ts'
import { findPostedTransaction, type PostedTransaction } from '../wallet/ledger.ts'
import type { Booking } from './book-plan.ts'
import type { PaymentIntent } from './payment-intent.ts'

/** Posts what was paid, in the transaction that gives what it was paid for. A payment is its own charge: it has one at most. */
export async function postPayment(
  work: UnitOfWork,
  intent: PaymentIntent,
  booking: Booking,
): Promise<void> {
  const { reference: chargeRef, customerRef, currency, originalAmountMinor: amountMinor } = intent
  const pays = useOf(intent, booking)
  if (pays === undefined) return
  const taxMinor = pays === 'refunds' ? 0n : taxOf(intent)
  const payment = { chargeRef, customerRef, currency, amountMinor, taxMinor, pays }
  await postMoney(work, paymentSucceeded(payment))
}

/** Undefined: whoever settles the invoice posts it. */
function useOf({ purpose, credits }: PaymentIntent, booking: Booking): PaymentUse | undefined {
  if (booking.kind === 'undeliverable') return 'refunds'
  if (purpose === 'usage_billing' || booking.hasInvoice === true) return undefined
  return credits === null ? 'revenue' : 'prepaid'
}

/** What was sold, without its tax. */
export function netOf(intent: PaymentIntent): Money {
  const { currency, originalAmountMinor } = intent
  return { currency, amountMinor: originalAmountMinor - taxOf(intent) }
}

export function taxOf({ tax }: PaymentIntent): bigint {
  return tax?.taxMinor ?? 0n
}

/** The processor's fee, and what it exchanged the payment into. */
export async function postSettlement(
  work: UnitOfWork,
  intent: PaymentIntent,
  { amountMinor, currency, feeMinor }: Settlement,
): Promise<void> {
  if ((await findPostedPayment(work, intent)) === undefined) return
  const { reference: chargeRef, customerRef, originalAmountMinor } = intent
  const charged = { currency: intent.currency, amountMinor: originalAmountMinor }
  const settled = { currency, amountMinor }
  await postMoney(work, paymentSettled({ chargeRef, customerRef, charged, settled, feeMinor }))
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
