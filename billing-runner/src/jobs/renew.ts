import { selectDueRenewals } from '@tollgate/domain/calendar/due-purchases'
import { decideRenewal } from '@tollgate/domain/purchases/decide-renewal'
import { renewPurchase } from '@tollgate/domain/purchases/renew-purchase'
import type { ItemJob } from './job.ts'
import { purchaseJob } from './purchase-job.ts'

/** Begins the next period of purchases whose billing date has come. */
export function createRenewals(): ItemJob {
  return purchaseJob({
    name: 'renewals',
    selectDue: selectDueRenewals,
    decide: ({ now }, purchase) => decideRenewal(purchase, now),
    act: async (work, purchase, decision) => {
      switch (decision.kind) {
        case 'nothing':
          return 'nothing'
        case 'charge':
          return 'postponed'
        case 'renew':
          await renewPurchase(work, purchase, decision.period)
          return 'done'
      }
    },
    describe: (decision) => {
      switch (decision.kind) {
        case 'nothing':
          return 'nothing'
        case 'charge':
          return `charge ${decision.amountMinor} minor units for the period until ${decision.period.end.toISOString()}`
        case 'renew':
          return `renew until ${decision.period.end.toISOString()}`
      }
    },
  })
}
