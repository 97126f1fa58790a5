import type { PaymentHandler } from './payment-handler.ts'
import { settleRecharge } from './settle-recharge.ts'
import { topUp } from './top-up.ts'

/** Credits that are bought on a saved card because the balance is low. The next one can begin once this has ended. */
export const autoRecharge: PaymentHandler = {
  onSucceeded: async (work, payment) => {
    const booking = await topUp.onSucceeded(work, payment)
    await settleRecharge(work, payment.intent)
    return booking
  },

  /** A decline is counted: after 3 in a row nothing is bought until the card changes. */
  onFailed: async (work, failure) => {
    if (failure.kind === 'payment-ended') await settleRecharge(work, failure.intent)
  },

  onRefunded: (work, intent, refund) => topUp.onRefunded(work, intent, refund),

  onDisputed: (work, intent, dispute) => topUp.onDisputed(work, intent, dispute),
}
