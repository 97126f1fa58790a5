import type { CommitParts } from '@tollgate/domain/publishing/commit-and-publish'
import { jobOperation } from '@tollgate/domain/unit-of-work/job-operation'
import { expireCredits } from '@tollgate/domain/wallet/expire-credits'
import { listDueGrants } from '@tollgate/domain/wallet/expiring-grants'
import type { WalletName } from '@tollgate/domain/wallet/hot-wallet'
import type { HotWallet } from '@tollgate/domain/wallet/read-wallet'
import { commit } from '../access/commit.ts'
import type { Wallets } from './wallets.ts'

export type ExpiryParts = CommitParts & {
  readonly wallets: Pick<Wallets, 'readHot' | 'hold'>
}

/** Takes what is left of a wallet's grants that have expired. Never throws: where it cannot be done now, they wait. */
export async function expireWallet(parts: ExpiryParts, name: WalletName): Promise<void> {
  const { environment, customerRef } = name
  const operation = jobOperation('expire-credits', name, parts.publisher.now())
  try {
    // Waits for the counters, where they are behind, before anything is locked.
    await parts.wallets.readHot(name)
    await commit(parts, operation, (work) => expireCredits(work, customerRef, parts.wallets.hold))
  } catch (error) {
    // The hot state may be away: they are taken out when that is back.
    parts.logger.warn({ err: error, environment, customerRef }, 'credits wait to expire')
  }
}

/**
 * A wallet before it is changed otherwise than by usage: undefined while only the ledger could say it. What has expired of
 * it is taken first. An expiry that died before its commit has left a hold, and whoever does not know what it is for takes
 * it for usage, which other grants would have to pay.
 */
export async function readBeforeChange(
  parts: ExpiryParts,
  name: WalletName,
): Promise<HotWallet | undefined> {
  const { environment, providerId, customerRef } = name
  const now = parts.publisher.now()
  const due = await parts.database
    .of(providerId)
    .in(environment)
    .read((sql) => listDueGrants(sql, providerId, customerRef, now))
  if (due.length > 0) await expireWallet(parts, name)
  return parts.wallets.readHot(name)
}
