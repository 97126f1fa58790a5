import { workOff } from '@tollgate/domain/postgres/work-off'
import { claimExpiringWallets } from '@tollgate/domain/wallet/expiring-grants'
import type { Service } from '@tollgate/platform/service/service'
import type { Environment } from '@tollgate/schemas/environment'
import { expireWallet, type ExpiryParts } from '../wallets/expire-wallet.ts'
import { repeatingInEach } from './repeating.ts'

const grantsPerClaimMax = 200

/** Each waits for PostgreSQL, and for the hot state between its locking and its commit. */
const walletsInFlightMax = 4

/** When a grant is looked at again that was not done with: whoever claimed it died, or something of it is in flight. */
const lookAgainAfterMs = 30_000

/**
 * Takes what is left of grants that have expired, a moment after they did. Several processes may do it at once: each
 * grant is claimed by one, and the wallet's lock orders it with all else.
 */
export function createCreditExpiry(parts: ExpiryParts, intervalMs: number): Service {
  const round = async (environment: Environment): Promise<void> => {
    while ((await expireBatch(parts, environment)) === grantsPerClaimMax);
  }
  return repeatingInEach(parts.logger, 'credits wait to expire', round, intervalMs)
}

/** How many grants were claimed. */
async function expireBatch(parts: ExpiryParts, environment: Environment): Promise<number> {
  const { database, now } = parts.publisher
  const at = now()
  const nextLookAt = new Date(at.getTime() + lookAgainAfterMs)
  const pool = database.in(environment)
  const claimed = await claimExpiringWallets(pool, at, nextLookAt, grantsPerClaimMax)
  await workOff(claimed.wallets, walletsInFlightMax, (wallet) =>
    expireWallet(parts, { environment, ...wallet }),
  )
  return claimed.grantsTotal
}
