import { bookInvoice } from './book-invoice.ts'
import { lockCustomer } from '../customers/repository.ts'
import { insertPurchase } from '../purchases/repository.ts'
import { topUpPurchase } from '../purchases/new-purchase.ts'
import { completeCheckoutSession } from '../sessions/checkout-sessions.ts'
import type { UnitOfWork } from '../unit-of-work/unit-of-work.ts'
import { topUpCredits } from '../wallet/top-up-credits.ts'
import { bookPlan, type Booking } from './book-plan.ts'
import { saleOfCredits } from './invoice-sale.ts'
import type { PaymentIntent } from '../payments/payment-intent.ts'
import { netOf } from './post-payment.ts'
import { untaxedTermsOf } from './taxed-terms.ts'

/** Gives what was paid for, in the transaction that says that it was paid. Its invoice is the caller's to issue. */
export async function bookPayment(
  work: UnitOfWork,
  intent: PaymentIntent,
  hostedUrl: string,
): Promise<Booking> {
  const booking = await book(work, intent)
  if (booking.kind === 'booked' && intent.checkoutSessionId !== null) {
    await completeCheckoutSession(work, hostedUrl, intent.checkoutSessionId, {
      planRef: intent.planRef,
      amountMinor: Number(intent.originalAmountMinor),
      currency: intent.currency,
    })
  }
  return booking
}

async function book(work: UnitOfWork, intent: PaymentIntent): Promise<Booking> {
  switch (intent.purpose) {
    case 'product': {
      const booking = await bookPlan(work, intent)
      if (booking.kind === 'undeliverable' || intent.credits === null) return booking
      return (await mint(work, intent, intent.credits)) ?? booking
    }
    case 'credit_topup':
      return bookTopUp(work, intent)
    case 'usage_billing':
      return bookInvoice(work, intent)
  }
}

/** Recorded as a purchase that gives access to nothing. */
async function bookTopUp(work: UnitOfWork, intent: PaymentIntent): Promise<Booking> {
  const { sql, providerId, now } = work
  const customer = await lockCustomer(sql, providerId, intent.customerRef)
  if (customer === undefined) {
    return { kind: 'undeliverable', reason: 'The customer was deleted' }
  }
  if (intent.credits === null) throw new Error(`${intent.reference} buys no credits`)
  const refused = await mint(work, intent, intent.credits)
  if (refused !== undefined) return refused
  const purchase = topUpPurchase(customer, { ...intent, ...untaxedTermsOf(intent) }, now)
  await insertPurchase(sql, providerId, purchase)
  const sale = saleOfCredits(intent, intent.credits, purchase.reference)
  return { kind: 'booked', purchaseRef: purchase.reference, sale }
}

async function mint(
  work: UnitOfWork,
  intent: PaymentIntent,
  credits: bigint,
): Promise<Booking | undefined> {
  const { reference: paymentRef, customerRef } = intent
  const outcome = await topUpCredits(work, {
    customerRef,
    credits,
    paid: netOf(intent),
    paymentRef,
  })
  return outcome === 'full'
    ? { kind: 'undeliverable', reason: 'The wallet takes no more credits' }
    : undefined
}
