import { dueCreditSchedules } from '@tollgate/domain/calendar/due-items'
import { processSchedule } from '@tollgate/domain/credit-schedules/process-schedule'
import { findSchedule } from '@tollgate/domain/credit-schedules/repository'
import { expireCredits } from '@tollgate/domain/wallet/expire-credits'
import { listDueGrants } from '@tollgate/domain/wallet/expiring-grants'
import { createHoldCredits } from '@tollgate/domain/wallet/hold-credits'
import type { WalletParts } from '@tollgate/domain/wallet/hot-wallet'
import { readWallet, type HotWallet } from '@tollgate/domain/wallet/read-wallet'
import type { BillingRunnerConfig } from '../config.ts'
import type { ItemContext, ItemJob, ItemOutcome } from './job.ts'

export type GrantLimits = Pick<
  BillingRunnerConfig,
  'creditsHeldMax' | 'scheduledGrantsMax' | 'usageStoredWaitMs'
>

/**
 * Creates the job that gives the grants of schedules. A runner that was down gives missed grants one after the other, each with the
 * expiry that it would have had.
 *
 * Each date is a transaction of its own. After a crash between two of them, the next run continues with the next date. After a crash
 * between the expiry of the last grant and the next grant, the expired credits are stored with their grant and still roll over. While
 * hot state is away the grants wait, because it knows which credits are unused.
 */
export function createScheduledGrants(limits: GrantLimits, hot: WalletParts): ItemJob {
  return {
    kind: 'items',
    name: 'scheduled-grants',
    due: dueCreditSchedules,
    perform: (context, scheduleRef) => giveGrants(context, limits, hot, scheduleRef),
    explain: () => Promise.resolve('give its next grant'),
  }
}

async function giveGrants(
  context: ItemContext,
  limits: GrantLimits,
  hot: WalletParts,
  scheduleRef: string,
): Promise<ItemOutcome> {
  const schedule = await context.commit(({ sql, providerId }) =>
    findSchedule(sql, providerId, scheduleRef),
  )
  if (schedule === undefined) return 'nothing'
  for (let given = 0; given < limits.scheduledGrantsMax; given += 1) {
    const wallet = await readAfterExpiry(context, limits, hot, schedule.customerRef)
    const outcome = await context.commit((work) => processSchedule(work, scheduleRef, wallet))
    if (outcome === 'nothing') return given === 0 ? 'nothing' : 'done'
  }
  // The rest follows with the next run.
  return 'postponed'
}

/** Expires what is due in the wallet, then returns the wallet. What is held for usage may stay in an expired grant for a moment. */
async function readAfterExpiry(
  { environment, providerId, now, commit }: ItemContext,
  { creditsHeldMax, usageStoredWaitMs }: GrantLimits,
  hot: WalletParts,
  customerRef: string,
): Promise<HotWallet> {
  const name = { environment, providerId, customerRef }
  // If the counters are behind, wait for them before any row is locked.
  const before = await readWallet(hot, name, usageStoredWaitMs)
  const isDue = await commit(async (work) => {
    const due = await listDueGrants(work.sql, providerId, customerRef, now)
    if (due.length === 0) return false
    await expireCredits(work, customerRef, createHoldCredits(hot, { heldMax: creditsHeldMax }))
    return true
  })
  return isDue ? readWallet(hot, name, usageStoredWaitMs) : before
}
