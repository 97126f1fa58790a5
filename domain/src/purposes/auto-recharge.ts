import type { PaymentHandler } from './payment-handler.ts'
import { topUp } from './top-up.ts'
import { queuePublication, recordEvent, type UnitOfWork } from '../unit-of-work/unit-of-work.ts'
import type { PaymentIntent } from '../payments/payment-intent.ts'
import { withRechargeResult } from '../auto-recharge/decide-recharge.ts'
import { lockRechargeInFlight, updateRecharge } from '../auto-recharge/repository.ts'

/** Credits bought on a saved card because the balance is low. The next recharge can begin once this one has ended. */
export const autoRecharge: PaymentHandler = {
  onSucceeded: async (work, payment) => {
    const booking = await topUp.onSucceeded(work, payment)
    await endRecharge(work, payment.intent)
    return booking
  },

  /** The decline is counted. After 3 consecutive declines, recharges stop until the card changes. */
  onFailed: async (work, failure) => {
    if (failure.kind === 'payment-ended') await endRecharge(work, failure.intent)
  },

  onRefunded: (work, intent, refund) => topUp.onRefunded(work, intent, refund),

  onDisputed: (work, intent, dispute) => topUp.onDisputed(work, intent, dispute),
}

/** Ends the customer's recharge in progress with the result of its payment. Does nothing for other payments. */
async function endRecharge(work: UnitOfWork, intent: PaymentIntent): Promise<void> {
  const { sql, providerId, now } = work
  const recharge = await lockRechargeInFlight(sql, providerId, intent)
  if (recharge === undefined) return
  const isPaid = intent.status === 'succeeded'
  const charge = {
    isPaid,
    amountMinor: intent.originalAmountMinor,
    chargedAt: intent.createdAt,
  }
  const settled = withRechargeResult(recharge, charge, now)
  await updateRecharge(sql, providerId, intent.customerRef, settled)
  if (settled.status !== recharge.status) {
    await queuePublication(work, 'customer', intent.customerRef)
  }
  if (isPaid) return
  await recordEvent(work, 'customer.credit.auto_topup_failed', {
    customerRef: intent.customerRef,
    paymentIntentId: intent.processorPaymentId,
    reason: intent.failureReason ?? intent.status,
  })
}
