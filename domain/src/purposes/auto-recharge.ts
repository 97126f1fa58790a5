import type { PaymentHandler } from './payment-handler.ts'
import { settleRecharge } from './settle-recharge.ts'
import { topUp } from './top-up.ts'

/** Credits bought on a saved card because the balance is low. The next recharge can begin once this one has ended. */
export const autoRecharge: PaymentHandler = {
  onSucceeded: async (work, payment) => {
    const booking = await topUp.onSucceeded(work, payment)
    await settleRecharge(work, payment.intent)
    return booking
  },

  /** The decline is counted. After 3 consecutive declines, recharges stop until the card changes. */
  onFailed: async (work, failure) => {
    if (failure.kind === 'payment-ended') await settleRecharge(work, failure.intent)
  },

  onRefunded: (work, intent, refund) => topUp.onRefunded(work, intent, refund),

  onDisputed: (work, intent, dispute) => topUp.onDisputed(work, intent, dispute),
}
