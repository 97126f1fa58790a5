import { claimDisputedCredits, claimRefundedCredits } from './claim-credits.ts'
import { endOnceAllRefunded } from './end-refunded.ts'
import { grantTopUp } from './grant-top-up.ts'
import type { PaymentHandler } from './payment-handler.ts'

/** Credits that the customer buys. Their purchase gives access to nothing, so a dispute suspends nothing. */
export const topUp: PaymentHandler = {
  onSucceeded: (work, { intent }) => grantTopUp(work, intent),

  /** Nothing was delivered, and the customer can make another payment. */
  onFailed: async () => undefined,

  onRefunded: async (work, intent, refund) => {
    await claimRefundedCredits(work, intent, refund)
    if (!refund.isReturned) await endOnceAllRefunded(work, intent)
  },

  onDisputed: (work, intent, dispute) => claimDisputedCredits(work, intent, dispute),
}
