import { applyDisputeAccess } from './apply-dispute-access.ts'
import { claimDisputedPack, claimRefundedPack } from './claim-packs.ts'
import { claimDisputedCredits, claimRefundedCredits } from './claim-credits.ts'
import { endRefundedSale } from './end-refunded.ts'
import { addPaidCredits } from './grant-top-up.ts'
import type { PaymentHandler } from './payment-handler.ts'
import { sellPlan } from './sell-plan.ts'

/** A plan that begins a new period or is bought once for all time, or the first credits of a credit plan. */
export const firstSale: PaymentHandler = {
  onSucceeded: async (work, { intent }) => {
    const booking = await sellPlan(work, intent)
    if (booking.kind === 'undeliverable' || intent.credits === null) return booking
    return (await addPaidCredits(work, intent, intent.credits)) ?? booking
  },

  /** Nothing was delivered, and the customer can make another payment. */
  onFailed: async () => undefined,

  /** Credits and units of packs are taken back in proportion. The purchase ends once all its payments are refunded. */
  onRefunded: async (work, intent, refund) => {
    await claimRefundedCredits(work, intent, refund)
    await claimRefundedPack(work, intent, refund)
    if (!refund.isReturned) await endRefundedSale(work, intent)
  },

  onDisputed: async (work, intent, dispute) => {
    await claimDisputedCredits(work, intent, dispute)
    // The dispute of a pack takes its units. The running purchase was paid for by another payment.
    if (await claimDisputedPack(work, intent, dispute)) return
    await applyDisputeAccess(work, intent, dispute.access)
  },
}
