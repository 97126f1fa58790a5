import { selectDueResets } from '@tollgate/domain/calendar/due-purchases'
import { decideReset } from '@tollgate/domain/purchases/decide-reset'
import { usageResetObject } from '@tollgate/domain/purchases/purchase-event'
import { updateCalendar } from '@tollgate/domain/purchases/repository'
import { recordEvent } from '@tollgate/domain/unit-of-work/unit-of-work'
import type { ItemJob } from './job.ts'
import { purchaseJob } from './purchase-job.ts'

/** Tells that usage counts in a new period. The counters need nobody to move them: each period has its own. */
export function createUsageReset(): ItemJob {
  return purchaseJob({
    name: 'usage-reset',
    selectDue: selectDueResets,
    decide: ({ now }, purchase) => decideReset(purchase, now),
    act: async (work, purchase, decision) => {
      if (decision.kind === 'nothing') return 'nothing'
      const { nextResetAt } = decision
      await updateCalendar(work.sql, work.providerId, { ...purchase, nextResetAt })
      if (decision.kind === 'reset') {
        const told = usageResetObject(purchase, decision.period, work.now)
        await recordEvent(work, 'usage.reset', told)
      }
      return 'done'
    },
    describe: (decision) => {
      switch (decision.kind) {
        case 'nothing':
          return 'nothing'
        case 'align':
          return `note the next reset: ${decision.nextResetAt?.toISOString() ?? 'none'}`
        case 'reset':
          return `tell of the period from ${decision.period.start.toISOString()} on`
      }
    },
  })
}
