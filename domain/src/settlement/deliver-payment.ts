import type { CardWithMethod } from '../cards/repository.ts'
import { holdCarried } from '../invoices/carried-amounts.ts'
import type { PaidWith, PaymentIntent } from '../payments/payment-intent.ts'
import { paysInvoice } from '../payments/payment-purpose.ts'
import { lockDebt } from '../purposes/debts.ts'
import { invoiceSale } from '../purposes/invoice-sale.ts'
import type { Booking } from '../purposes/payment-handler.ts'
import { handlerOf } from '../purposes/payment-handlers.ts'
import { saveCard } from '../purposes/card-check.ts'
import { completeCheckoutSession } from '../sessions/checkout-sessions.ts'
import type { UnitOfWork } from '../unit-of-work/unit-of-work.ts'
import type { PaymentReading } from './read-payment.ts'
import { postSettlement, postUndeliverable } from './post-payment.ts'

/** Delivers what was paid for and returns the updated payment. A payment that cannot be delivered is marked for a refund. */
export async function deliverPayment(
  work: UnitOfWork,
  intent: PaymentIntent,
  { payment, card, isCardSaved }: PaymentReading,
  hostedUrl: string,
): Promise<PaymentIntent> {
  const { now } = work
  const settlementWanted = payment.settlement === undefined
  const paidMethodId = payment.paymentMethodId ?? null
  const fields = { failureReason: null, settlementWanted, paidMethodId }
  const paid = { ...intent, ...fields, succeededAt: now }
  const booking = await bookPayment(work, paid, hostedUrl)
  if (booking.kind === 'undeliverable') {
    await releaseBalance(work, paid)
    await postUndeliverable(work, paid)
    if (payment.settlement !== undefined) await postSettlement(work, paid, payment.settlement)
    return { ...paid, refundWanted: true, failureReason: booking.reason }
  }
  // If the saved card paid an invoice, there is no new card to save, and the customer may have saved another one meanwhile.
  const isFirst = paysInvoice(paid) && card?.paymentMethodId === paid.paymentMethodId
  const isKnown = isCardSaved || isFirst
  if (card !== undefined && !isKnown) await saveCard(work, paid.customerRef, card)
  const { purchaseRef, sale } = booking
  const invoiceRef = sale === undefined ? paid.invoiceRef : await invoiceSale(work, paid, sale)
  if (payment.settlement !== undefined) await postSettlement(work, paid, payment.settlement)
  return { ...paid, purchaseRef, invoiceRef, paidWith: paidWithOf(card) }
}

/** Releases the customer's credit that a payment holds, because the payment delivers nothing. */
async function releaseBalance(
  { sql, providerId, now }: UnitOfWork,
  intent: PaymentIntent,
): Promise<void> {
  await holdCarried(sql, providerId, intent, -intent.fromBalanceMinor, now)
}

export async function bookPayment(
  work: UnitOfWork,
  intent: PaymentIntent,
  hostedUrl: string,
): Promise<Booking> {
  const payment = { intent, debt: await lockDebt(work, intent) }
  const booking = await handlerOf(payment).onSucceeded(work, payment)
  if (booking.kind === 'booked' && intent.checkoutSessionId !== null) {
    await completeCheckoutSession(work, hostedUrl, intent.checkoutSessionId, {
      planRef: intent.planRef,
      amountMinor: Number(intent.originalAmountMinor),
      currency: intent.currency,
    })
  }
  return booking
}

export function paidWithOf(card: CardWithMethod | undefined): PaidWith | null {
  if (card === undefined) return null
  const { brand, last4, expMonth, expYear } = card
  return { brand, last4, expMonth, expYear }
}

/** Runs the handler of a payment that ended without money. `isTooSmall`: the amount is below the processor's minimum. */
export async function handlePaymentFailure(
  work: UnitOfWork,
  intent: PaymentIntent,
  isTooSmall: boolean,
): Promise<void> {
  const payment = { intent, debt: await lockDebt(work, intent) }
  await releaseBalance(work, intent)
  await handlerOf(payment).onFailed(work, { kind: 'payment-ended', ...payment, isTooSmall })
}
