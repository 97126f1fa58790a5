import { jobActor } from '@tollgate/domain/audit/actor'
import type { CustomerName } from '@tollgate/domain/customers/repository'
import { workOff } from '@tollgate/domain/publications/work-off'
import { expireCredits } from '@tollgate/domain/wallet/expire-credits'
import { claimExpiringWallets } from '@tollgate/domain/wallet/expiring-grants'
import type { Service } from '@tollgate/platform/service/service'
import { environments, type Environment } from '@tollgate/schemas/environment'
import type { AppParts } from '../http/app-parts.ts'
import { commit } from '../http/commit.ts'
import { repeating } from './repeating.ts'

type ExpiryParts = Pick<AppParts, 'database' | 'publisher' | 'logger' | 'wallets'>

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
  const round = async (): Promise<void> => {
    for (const environment of environments) {
      try {
        while ((await expireBatch(parts, environment)) === grantsPerClaimMax);
      } catch (error) {
        parts.logger.error({ err: error, environment }, 'credits wait to expire')
      }
    }
  }
  return repeating(round, intervalMs)
}

/** How many grants were claimed. */
async function expireBatch(parts: ExpiryParts, environment: Environment): Promise<number> {
  const { database, now } = parts.publisher
  const at = now()
  const nextLookAt = new Date(at.getTime() + lookAgainAfterMs)
  const pool = database.in(environment)
  const claimed = await claimExpiringWallets(pool, at, nextLookAt, grantsPerClaimMax)
  await workOff(claimed.wallets, walletsInFlightMax, (wallet) => expire(parts, environment, wallet))
  return claimed.grantsTotal
}

async function expire(
  parts: ExpiryParts,
  environment: Environment,
  { providerId, customerRef }: CustomerName,
): Promise<void> {
  const operation = {
    providerId,
    environment,
    now: parts.publisher.now(),
    actor: jobActor('expire-credits'),
    requestId: null,
    idempotencyKey: null,
  }
  try {
    // Waits for the counters, where they are behind, before anything is locked.
    await parts.wallets.readHot({ ...operation, customerRef })
    await commit(parts, operation, (work) => expireCredits(work, customerRef, parts.wallets.hold))
  } catch (error) {
    // The hot state may be away: they are taken out when that is back.
    parts.logger.warn({ err: error, environment, customerRef }, 'credits wait to expire')
  }
}
