import { expiringWallets, walletsToAnnounce } from '@tollgate/domain/calendar/due-items'
import { beginRecharge } from '@tollgate/domain/charging/recharge-wallets'
import { announceExpiry } from '@tollgate/domain/wallet/announce-expiry'
import { expireCredits } from '@tollgate/domain/wallet/expire-credits'
import { listDueGrants } from '@tollgate/domain/wallet/expiring-grants'
import { createHoldCredits } from '@tollgate/domain/wallet/hold-credits'
import { readWallet } from '@tollgate/domain/wallet/read-wallet'
import type { BillingRunnerConfig } from '../config.ts'
import type { ItemJob } from '../jobs/job.ts'
import { paymentPartsOf, type Parts } from '../open-parts.ts'

/** Creates the job that announces the expiry of credits of customers on clocks. In real time the control plane does it. */
export function createExpiryAnnouncement({
  creditExpiryNoticeDays,
}: Pick<BillingRunnerConfig, 'creditExpiryNoticeDays'>): ItemJob {
  const aheadMs = creditExpiryNoticeDays * 86_400_000
  return {
    kind: 'items',
    name: 'credit-expiry-announcements',
    due: walletsToAnnounce(aheadMs),
    perform: async (context, customerRef) => {
      await context.commit((work) => announceExpiry(work, customerRef, aheadMs))
      return 'done'
    },
    explain: () => Promise.resolve('announce that its credits expire'),
  }
}

/**
 * Creates the job that expires credits of customers on clocks, at the instant of their expiry. In real time the control plane does
 * it a moment later. A wallet that falls below the threshold of its automatic top-up is recharged at once, as in real time.
 */
export function createCreditExpiry(
  config: Pick<BillingRunnerConfig, 'creditsHeldMax' | 'hostedUrl' | 'usageStoredWaitMs'>,
  parts: Parts,
): ItemJob {
  const hot = { log: parts.eventLog, hotState: parts.hotState }
  const hold = createHoldCredits(hot, { heldMax: config.creditsHeldMax })
  const payments = paymentPartsOf(config, parts)
  return {
    kind: 'items',
    name: 'credit-expiry',
    due: expiringWallets,
    perform: async (context, customerRef) => {
      const { environment, providerId, now } = context
      const name = { environment, providerId, customerRef }
      // If the counters are behind, wait for them before any row is locked.
      await readWallet(hot, name, config.usageStoredWaitMs)
      const left = await context.commit(async (work) => {
        await expireCredits(work, customerRef, hold)
        return listDueGrants(work.sql, providerId, customerRef, now)
      })
      // Credits in flight stay in their grant until their usage is posted. The clock looks again after ever longer pauses.
      const outcome = left.length > 0 ? 'postponed' : 'done'
      if (payments.processors.of(environment) === undefined) return outcome
      const recharge = await beginRecharge(payments, environment, name, now)
      if (recharge.kind !== 'begun') return outcome
      await recharge.charge()
      // Credits in flight are still due after the top-up, and would otherwise be looked at again without a pause.
      return outcome
    },
    explain: () => Promise.resolve('expire its credits'),
  }
}
