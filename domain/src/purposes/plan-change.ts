import { applyDisputeAccess } from './apply-dispute-access.ts'
import { endRefundedSale } from './end-refunded.ts'
import type { PaymentHandler } from './payment-handler.ts'
import { sellPlanChange } from './sell-plan.ts'

/** The price difference of another plan within a paid period. */
export const planChange: PaymentHandler = {
  onSucceeded: (work, { intent }) => sellPlanChange(work, intent),

  /** The customer keeps the previous plan, and can make another payment. */
  onFailed: async () => undefined,

  /** The new purchase ends. The previous one becomes active again if it is still paid for. */
  onRefunded: async (work, intent, { isReturned }) => {
    if (!isReturned) await endRefundedSale(work, intent)
  },

  onDisputed: (work, intent, { access }) => applyDisputeAccess(work, intent, access),
}
