import { selectLapsed } from '@tollgate/domain/calendar/due-purchases'
import { isLapsed } from '@tollgate/domain/purchases/access'
import { settleLapsed } from '@tollgate/domain/purchases/settle-lapsed'
import type { ItemJob } from './job.ts'
import { purchaseJob } from './purchase-job.ts'

/** Says of purchases whose end has passed that they have ended, which takes no access that was not gone already. */
export function createEndedPurchases(): ItemJob {
  return purchaseJob({
    name: 'ended-purchases',
    selectDue: selectLapsed,
    decide: ({ now }, purchase) => isLapsed(purchase, now),
    act: async (work, { reference }) =>
      (await settleLapsed(work, reference)) === undefined ? 'nothing' : 'done',
    describe: (hasLapsed) => (hasLapsed ? 'say that it has ended' : 'nothing'),
  })
}
