import { remindablePurchases } from '@tollgate/domain/calendar/due-items'
import { decideReminder } from '@tollgate/domain/purchases/decide-reminder'
import { renewalReminderObject, trialEndingObject } from '@tollgate/domain/purchases/purchase-event'
import { updateJobDates } from '@tollgate/domain/purchases/purchase-fields-repository'
import { recordEvent } from '@tollgate/domain/unit-of-work/unit-of-work'
import type { ItemJob } from './job.ts'
import { createPurchaseJob } from './purchase-job.ts'

/** Creates the job that emits reminder events before the end of a trial or a renewal, once for each date. */
export function createReminders(aheadMs: number): ItemJob {
  return createPurchaseJob({
    name: 'reminders',
    due: remindablePurchases(aheadMs),
    decide: ({ now }, purchase) => decideReminder(purchase, now, aheadMs),
    act: async (work, purchase, decision) => {
      if (decision.kind === 'nothing') return 'nothing'
      const { date } = decision
      await updateJobDates(work.sql, work.providerId, { ...purchase, remindedOf: date })
      if (decision.of === 'trial-end') {
        await recordEvent(work, 'purchase.trial_ending', trialEndingObject(purchase, date))
      } else {
        await recordEvent(work, 'purchase.renewal_reminder', renewalReminderObject(purchase, date))
      }
      return 'done'
    },
    describe: (decision) =>
      decision.kind === 'nothing'
        ? 'nothing'
        : `emit a reminder of the ${decision.of === 'trial-end' ? 'end of its trial' : 'renewal'} on ${decision.date.toISOString()}`,
  })
}
