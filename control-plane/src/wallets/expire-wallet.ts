import type { CommitParts } from '@tollgate/domain/publishing/commit-and-publish'
import { jobOperation } from '@tollgate/domain/unit-of-work/job-operation'
import { expireCredits } from '@tollgate/domain/wallet/expire-credits'
import { listDueGrants } from '@tollgate/domain/wallet/expiring-grants'
import { readCustomerTime } from '@tollgate/domain/test-clocks/customer-time'
import type { WalletKey } from '@tollgate/domain/wallet/hot-wallet'
import type { HotWallet } from '@tollgate/domain/wallet/read-wallet'
import { commit } from '../access/commit.ts'
import type { Wallets } from './wallets.ts'

export type ExpiryParts = CommitParts & {
  readonly wallets: Pick<Wallets, 'readHot' | 'hold'>
}

/**
 * Expires the remaining credits of a wallet's expired grants. Never throws: if a store is unavailable, a later round expires them.
 */
export async function expireWallet(parts: ExpiryParts, name: WalletKey): Promise<void> {
  const { environment, customerRef } = name
  try {
    const operation = jobOperation('expire-credits', name, await timeOf(parts, name))
    // If the counters are behind, wait for them before any row is locked.
    await parts.wallets.readHot(name)
    await commit(parts, operation, (work) => expireCredits(work, customerRef, parts.wallets.hold))
  } catch (error) {
    // The hot state may be unavailable. A later round expires the credits.
    parts.logger.warn(
      { err: error, environment, customerRef },
      'could not expire credits; the next round retries',
    )
  }
}

/** Returns the time of the wallet's customer. */
export function timeOf(
  { database, publisher }: Pick<CommitParts, 'database' | 'publisher'>,
  { environment, providerId, customerRef }: WalletKey,
): Promise<Date> {
  return readCustomerTime(database, environment, { providerId, customerRef }, publisher.now())
}

/**
 * Reads a wallet before a change other than usage. Returns undefined while only the ledger knows the balance. Expires the wallet's
 * due grants first: an expiry that crashed before its commit has left a hold, and without this step the hold would count as usage
 * and reduce other grants.
 */
export async function readWalletBeforeChange(
  parts: ExpiryParts,
  name: WalletKey,
): Promise<HotWallet | undefined> {
  const { environment, providerId, customerRef } = name
  const now = await timeOf(parts, name)
  const due = await parts.database
    .of(providerId)
    .in(environment)
    .read((sql) => listDueGrants(sql, providerId, customerRef, now))
  if (due.length > 0) await expireWallet(parts, name)
  return parts.wallets.readHot(name)
}
