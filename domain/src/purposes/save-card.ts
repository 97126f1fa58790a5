import { armRecharge } from '../auto-recharge/repository.ts'
import type { UnitOfWork } from '../unit-of-work/unit-of-work.ts'
import { scheduleUnpaidCharges } from '../invoices/unpaid.ts'
import { findReusablePaymentMethod, keepCard, type SeenCard } from '../cards/repository.ts'

/**
 * Stores the card that paid or was set up. If it can be charged again, pending recharges and unpaid invoices use it from now on.
 */
export async function saveCard(
  work: UnitOfWork,
  customerRef: string,
  card: SeenCard,
): Promise<void> {
  const { sql, providerId, now } = work
  const before = await findReusablePaymentMethod(sql, providerId, customerRef)
  await keepCard(sql, providerId, customerRef, card, now)
  if (!card.reusable) return
  await armRecharge(work, customerRef, card.paymentMethodId)
  if (before !== card.paymentMethodId)
    await scheduleUnpaidCharges(sql, providerId, customerRef, now)
}
