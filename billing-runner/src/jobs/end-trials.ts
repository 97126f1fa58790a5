import { continueTrial } from '@tollgate/domain/billing/continue-trial'
import { endedTrials } from '@tollgate/domain/calendar/due-items'
import { findCard } from '@tollgate/domain/cards/repository'
import { decideTrialEnd } from '@tollgate/domain/purchases/decide-trial-end'
import { movePurchase } from '@tollgate/domain/purchases/move-purchase'
import { createChargedJob } from './charged-job.ts'
import type { Charging } from './collect-invoice.ts'
import type { ItemJob } from './job.ts'

/**
 * Creates the job for trials that have ended: a free plan continues, a purchase with a reusable card is charged, and one without is
 * suspended. A change of plan that was scheduled for the end is made first.
 */
export function createTrialExpiry(charging: Charging): ItemJob {
  return createChargedJob(
    {
      name: 'trial-expiry',
      due: endedTrials,
      decide: async ({ sql, providerId, now }, purchase) => {
        const card = await findCard(sql, providerId, purchase.customerRef)
        return decideTrialEnd(purchase, card?.reusable === true, now)
      },
      act: async (work, purchase, decision) => {
        switch (decision.kind) {
          case 'nothing':
            return 'nothing'
          case 'suspend':
            await movePurchase(work, purchase, 'trial-unpaid', { nextUsageBillAt: null })
            return 'done'
          case 'change':
            // The purchase that replaces it is due as well, and is decided next.
            await continueTrial(work, purchase, decision.plan)
            return 'done'
          case 'activate': {
            const { nextBillingDate } = decision
            await movePurchase(work, purchase, 'trial-ended-free', { nextBillingDate })
            return 'done'
          }
        }
      },
      changesPlan: ({ kind }) => kind === 'change',
      describe: (decision) => {
        switch (decision.kind) {
          case 'nothing':
            return 'nothing'
          case 'suspend':
            return 'suspend it: it has no card to charge'
          case 'change':
            return `end it with the terms of ${decision.plan.reference}`
          case 'activate':
            return 'continue without a payment'
        }
      },
    },
    charging,
  )
}
