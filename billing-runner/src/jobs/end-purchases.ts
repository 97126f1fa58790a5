import { lapsedPurchases } from '@tollgate/domain/calendar/due-items'
import { isLapsed } from '@tollgate/domain/purchases/access'
import { endLapsedPurchase } from '@tollgate/domain/purchases/end-lapsed-purchase'
import type { ItemJob } from './job.ts'
import { createPurchaseJob } from './purchase-job.ts'

/**
 * Creates the job that marks purchases as ended after their end has passed. Customers lose access at the end itself, not by this
 * job.
 */
export function createEndedPurchases(): ItemJob {
  return createPurchaseJob({
    name: 'ended-purchases',
    due: lapsedPurchases,
    decide: ({ now }, purchase) => isLapsed(purchase, now),
    act: async (work, { reference }) =>
      (await endLapsedPurchase(work, reference)) === undefined ? 'nothing' : 'done',
    describe: (hasLapsed) => (hasLapsed ? 'mark it as ended' : 'nothing'),
  })
}
