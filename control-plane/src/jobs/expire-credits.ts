import { forEachConcurrently } from '@tollgate/domain/postgres/for-each-concurrently'
import { claimExpiringWallets } from '@tollgate/domain/wallet/expiring-grants'
import type { Service } from '@tollgate/platform/service/service'
import type { Environment } from '@tollgate/schemas/environment'
import { expireWallet, type ExpiryParts } from '../wallets/expire-wallet.ts'
import { repeatingInEach } from './repeating.ts'

const grantsPerClaimMax = 200

/**
 * Maximum number of wallets that are processed concurrently. Each waits for PostgreSQL, and for the hot state between its lock and
 * its commit.
 */
const walletsInFlightMax = 4

/**
 * Time after which an unfinished grant is claimed again, in milliseconds. A grant stays unfinished if the process that claimed it
 * crashed, or if some of its credits are in flight.
 */
const reclaimAfterMs = 30_000

/**
 * Expires the remaining credits of expired grants, shortly after they expire. Several processes may run it at the same time: one
 * process claims each grant, and the lock of the wallet orders the expiry with all other changes.
 */
export function createCreditExpiry(parts: ExpiryParts, intervalMs: number): Service {
  const round = async (environment: Environment): Promise<void> => {
    while ((await expireBatch(parts, environment)) === grantsPerClaimMax);
  }
  return repeatingInEach(
    parts.logger,
    'could not expire credits; the next round retries',
    round,
    intervalMs,
  )
}

/** Expires one batch. Returns how many grants were claimed. */
async function expireBatch(parts: ExpiryParts, environment: Environment): Promise<number> {
  const { database, now } = parts.publisher
  const at = now()
  const reclaimAt = new Date(at.getTime() + reclaimAfterMs)
  const pool = database.in(environment)
  const claimed = await claimExpiringWallets(pool, at, reclaimAt, grantsPerClaimMax)
  await forEachConcurrently(claimed.wallets, walletsInFlightMax, (wallet) =>
    expireWallet(parts, { environment, ...wallet }),
  )
  return claimed.grantsTotal
}
