import { moveAccess } from './charge-back.ts'
import { endRefundedSale } from './end-refunded.ts'
import type { PaymentHandler } from './payment-handler.ts'
import { sellPlanChange } from './sell-plan.ts'

/** The difference that another plan costs within a period that is paid. */
export const planChange: PaymentHandler = {
  onSucceeded: (work, { intent }) => sellPlanChange(work, intent),

  /** The customer keeps the plan before, and can pay by another payment. */
  onFailed: async () => undefined,

  /** The new purchase ends, and the one before is active again if it is still paid for. */
  onRefunded: async (work, intent, { isReturned }) => {
    if (!isReturned) await endRefundedSale(work, intent)
  },

  onDisputed: (work, intent, { access }) => moveAccess(work, intent, access),
}
