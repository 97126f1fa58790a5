import { dueRenewals } from '@tollgate/domain/calendar/due-items'
import { decideRenewal } from '@tollgate/domain/purchases/decide-renewal'
import { renewPurchase } from '@tollgate/domain/purchases/move-purchase'
import { startScheduledPlan } from '@tollgate/domain/billing/start-scheduled-plan'
import { createChargedJob, type ChargedJob } from './charged-job.ts'
import type { Charging } from './collect-invoice.ts'
import type { ItemJob } from './job.ts'

/**
 * Creates the job that begins the next period of purchases whose billing date has come. If the period costs something, it begins
 * with a payment.
 */
export function createRenewals(charging: Charging): ItemJob {
  const decide: Renewal['decide'] = async ({ now }, purchase) => decideRenewal(purchase, now)
  return createChargedJob({ ...renewal, name: 'renewals', due: dueRenewals, decide }, charging)
}

type Renewal = ChargedJob<Exclude<ReturnType<typeof decideRenewal>, { readonly kind: 'charge' }>>

const renewal: Pick<Renewal, 'act' | 'describe' | 'changesPlan'> = {
  changesPlan: ({ kind }) => kind === 'change',
  act: async (work, purchase, decision) => {
    if (decision.kind === 'nothing') return 'nothing'
    if (decision.kind === 'wait') return 'postponed'
    if (decision.kind === 'change') {
      await startScheduledPlan(work, purchase, decision.plan, decision.period)
      return 'done'
    }
    await renewPurchase(work, purchase, decision.period)
    return 'done'
  },
  describe: (decision) => {
    switch (decision.kind) {
      case 'nothing':
        return 'nothing'
      case 'wait':
        return 'wait until the usage of the previous period is billed'
      case 'change':
        return `start ${decision.plan.reference} in place of the current plan`
      case 'renew':
        return `renew until ${decision.period.end.toISOString()}`
    }
  },
}
