import {
  claimDueTakeBacks,
  type TakeBackName,
} from '@tollgate/domain/payments/take-backs-repository'
import { processTakeBack } from '@tollgate/domain/settlement/process-take-back'
import { forEachConcurrently } from '@tollgate/domain/postgres/for-each-concurrently'
import type { CommitParts } from '@tollgate/domain/publishing/commit-and-publish'
import { jobOperation } from '@tollgate/domain/unit-of-work/job-operation'
import type { Service } from '@tollgate/platform/service/service'
import type { Environment } from '@tollgate/schemas/environment'
import { commit } from '../access/commit.ts'
import { readWalletBeforeChange, timeOf } from '../wallets/expire-wallet.ts'
import type { Wallets } from '../wallets/wallets.ts'
import { repeatingInEach } from './repeating.ts'

export type TakeBackParts = CommitParts & {
  readonly wallets: Pick<Wallets, 'readHot' | 'hold' | 'release'>
}

const rowsPerClaimMax = 100

/**
 * Maximum number of wallets that are processed concurrently. Each waits for PostgreSQL, and for the hot state between its lock and
 * its commit.
 */
const walletsInFlightMax = 4

/**
 * Time after which a claimed row is tried again, in milliseconds: the process that claimed it crashed, or the hot state was
 * unavailable.
 */
const retryAfterMs = 30_000

/**
 * Debits credits whose money was paid back by a refund or a dispute, and credits them again if the refund or dispute failed.
 * Several processes may run it at the same time: one process claims each row, and the lock of the wallet orders it with all other
 * changes.
 */
export function createCreditTakeBacks(parts: TakeBackParts, intervalMs: number): Service {
  const round = async (environment: Environment): Promise<void> => {
    while (await takeBackCredits(parts, environment));
  }
  return repeatingInEach(
    parts.logger,
    'could not take back credits; the next round retries',
    round,
    intervalMs,
  )
}

/** Processes one batch. Returns whether there may be more. */
export async function takeBackCredits(
  parts: TakeBackParts,
  environment: Environment,
): Promise<boolean> {
  const { database, now } = parts.publisher
  const at = now()
  const retryAt = new Date(at.getTime() + retryAfterMs)
  const pool = database.in(environment)
  const due = await claimDueTakeBacks(pool, at, retryAt, rowsPerClaimMax)
  await forEachConcurrently(due, walletsInFlightMax, (each) =>
    takeBackFromWallet(parts, environment, each),
  )
  return due.length === rowsPerClaimMax
}

async function takeBackFromWallet(
  parts: TakeBackParts,
  environment: Environment,
  name: TakeBackName,
): Promise<void> {
  const { providerId, customerRef, reference } = name
  const wallet = { environment, providerId, customerRef }
  try {
    const operation = jobOperation('take-back-credits', wallet, await timeOf(parts, wallet))
    const hot = await readWalletBeforeChange(parts, wallet)
    await commit(parts, operation, (work) => processTakeBack(work, name, hot, parts.wallets))
  } catch (error) {
    parts.logger.warn(
      { err: error, environment, reference },
      'could not take back credits; the next round retries',
    )
  }
}
