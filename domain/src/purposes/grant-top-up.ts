import { lockCustomer } from '../customers/repository.ts'
import type { PaymentIntent } from '../payments/payment-intent.ts'
import { netAmountOf, untaxedTermsOf } from '../payments/taxed-terms.ts'
import { newTopUpPurchase } from '../purchases/new-purchase.ts'
import { insertPurchase } from '../purchases/repository.ts'
import type { UnitOfWork } from '../unit-of-work/unit-of-work.ts'
import { topUpCredits } from '../wallet/top-up-credits.ts'
import { saleOfCredits } from './invoice-sale.ts'
import { undeliverable, type Booking, type Undeliverable } from './payment-handler.ts'

/** Adds the credits to the wallet. The purchase that records them gives access to nothing. */
export async function grantTopUp(work: UnitOfWork, intent: PaymentIntent): Promise<Booking> {
  const { sql, providerId, now } = work
  const { credits } = intent
  const customer = await lockCustomer(sql, providerId, intent.customerRef)
  if (customer === undefined) return undeliverable('The customer was deleted')
  if (credits === null) throw new Error(`${intent.reference} buys no credits`)
  const refused = await addPaidCredits(work, intent, credits)
  if (refused !== undefined) return refused
  const purchase = newTopUpPurchase(customer, { ...intent, ...untaxedTermsOf(intent) }, now)
  await insertPurchase(sql, providerId, purchase)
  const sale = saleOfCredits(intent, credits, purchase.reference)
  return { kind: 'booked', purchaseRef: purchase.reference, sale }
}

/** Adds the credits to the wallet. Returns undefined, or why the wallet cannot take them. */
export async function addPaidCredits(
  work: UnitOfWork,
  intent: PaymentIntent,
  credits: bigint,
): Promise<Undeliverable | undefined> {
  const { reference: paymentRef, customerRef } = intent
  const paid = netAmountOf(intent)
  const outcome = await topUpCredits(work, { customerRef, credits, paid, paymentRef })
  return outcome === 'full' ? undeliverable('The wallet takes no more credits') : undefined
}
