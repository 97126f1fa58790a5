import { setRechargeCard } from '../auto-recharge/repository.ts'
import type { UnitOfWork } from '../unit-of-work/unit-of-work.ts'
import { scheduleUnpaidCharges } from '../invoices/unpaid.ts'
import { findReusablePaymentMethod, storeCard, type CardWithMethod } from '../cards/repository.ts'
import type { CardCheckHandler } from './payment-handler.ts'

/**
 * Stores the card that paid or was set up. If it can be charged again, pending recharges and unpaid invoices use it from now on.
 */
export async function saveCard(
  work: UnitOfWork,
  customerRef: string,
  card: CardWithMethod,
): Promise<void> {
  const { sql, providerId, now } = work
  const before = await findReusablePaymentMethod(sql, providerId, customerRef)
  await storeCard(sql, providerId, customerRef, card, now)
  if (!card.reusable) return
  await setRechargeCard(work, customerRef, card.paymentMethodId)
  if (before !== card.paymentMethodId)
    await scheduleUnpaidCharges(sql, providerId, customerRef, now)
}

/** A card that the customer enters for later charges. */
export const cardCheck: CardCheckHandler = {
  /** Saves the card, which is charged from now on, also for unpaid invoices. */
  onSucceeded: (work, customerRef, card) => saveCard(work, customerRef, card),

  /** The previous card stays. */
  onFailed: async () => undefined,
}
