import { listDueItems } from '@tollgate/domain/calendar/claims'
import { walletsToAnnounce } from '@tollgate/domain/calendar/due-items'
import type { CommitParts } from '@tollgate/domain/publishing/commit-and-publish'
import { jobOperation } from '@tollgate/domain/unit-of-work/job-operation'
import { announceExpiry } from '@tollgate/domain/wallet/announce-expiry'
import type { Service } from '@tollgate/platform/service/service'
import type { Environment } from '@tollgate/schemas/environment'
import { commit } from '../access/commit.ts'
import { repeatingInEach, reportFailure } from './repeating.ts'

const walletsPerRoundMax = 500

const failure = 'could not announce the expiry of credits; the next round retries'

/**
 * Emits `customer.credit.expiring` some days before credits expire, for customers of real time. Several processes may run it at the same time: the mark of a
 * grant and the event commit together, under the lock of the wallet. A wallet that fails does not delay the others.
 */
export function createExpiryAnnouncements(
  parts: CommitParts,
  { aheadMs, intervalMs }: { readonly aheadMs: number; readonly intervalMs: number },
): Service {
  const round = async (environment: Environment): Promise<void> => {
    const { database, now } = parts.publisher
    const sql = database.in(environment)
    const due = walletsToAnnounce(aheadMs).select
    const items = await listDueItems(sql, due, now(), walletsPerRoundMax)
    for (const { providerId, item: customerRef } of items) {
      const operation = jobOperation('announce-expiry', { providerId, environment }, now())
      await reportFailure(
        () => commit(parts, operation, (work) => announceExpiry(work, customerRef, aheadMs)),
        (err) => parts.logger.error({ err, environment, providerId, customerRef }, failure),
      )
    }
  }
  return repeatingInEach(parts.logger, failure, round, intervalMs)
}
