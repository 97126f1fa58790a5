import { purgeCustomerAuth } from '@tollgate/domain/customer-auth/purge'
import { deleteReplacedTokenKeys } from '@tollgate/domain/customer-auth/token-keys'
import type { Service } from '@tollgate/platform/service/service'
import type { Environment } from '@tollgate/schemas/environment'
import { repeatingInEach, type JobParts } from './repeating.ts'

/** Extra time in milliseconds before a key is deleted, because processes cache keys for a few seconds and clocks differ. */
const keySpareMs = 3_600_000

/**
 * Deletes expired records of the sign-in of customers, and signing keys whose last token has expired. Several processes may run it
 * at the same time.
 */
export function createCustomerAuthPurge(
  { publisher, logger }: JobParts,
  { accessTokenMs, intervalMs }: { readonly accessTokenMs: number; readonly intervalMs: number },
): Service {
  const round = async (environment: Environment): Promise<void> => {
    const sql = publisher.database.in(environment)
    const now = publisher.now()
    await purgeCustomerAuth(sql, now)
    const before = new Date(now.getTime() - accessTokenMs - keySpareMs)
    const deleted = await deleteReplacedTokenKeys(sql, before)
    if (deleted > 0) logger.info({ environment, deleted }, 'replaced signing keys were deleted')
  }
  return repeatingInEach(
    logger,
    'could not delete expired sign-ins; the next round retries',
    round,
    intervalMs,
  )
}
