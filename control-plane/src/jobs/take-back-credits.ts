import {
  claimDueTakeBacks,
  type TakeBackName,
} from '@tollgate/domain/payments/take-backs-repository'
import { workOffTakeBack } from '@tollgate/domain/settlement/work-off-take-back'
import { workOff } from '@tollgate/domain/postgres/work-off'
import type { CommitParts } from '@tollgate/domain/publishing/commit-and-publish'
import { jobOperation } from '@tollgate/domain/unit-of-work/job-operation'
import type { Service } from '@tollgate/platform/service/service'
import type { Environment } from '@tollgate/schemas/environment'
import { commit } from '../access/commit.ts'
import { readBeforeChange } from '../wallets/expire-wallet.ts'
import type { Wallets } from '../wallets/wallets.ts'
import { repeatingInEach } from './repeating.ts'

export type TakeBackParts = CommitParts & {
  readonly wallets: Pick<Wallets, 'readHot' | 'hold' | 'release'>
}

const rowsPerClaimMax = 100

/** Each waits for PostgreSQL, and for the hot state between its locking and its commit. */
const walletsInFlightMax = 4

/** When one is tried again: whoever claimed it died, or the hot state was away. */
const tryAgainAfterMs = 30_000

/**
 * Takes the credits back that refunds and disputes have paid back the money of, and gives them back where that came to
 * nothing. Several processes may do it at once: each is claimed by one, and the wallet's lock orders it with all else.
 */
export function createCreditTakeBacks(parts: TakeBackParts, intervalMs: number): Service {
  const round = async (environment: Environment): Promise<void> => {
    while (await takeBackCredits(parts, environment));
  }
  return repeatingInEach(parts.logger, 'credits wait to be taken back', round, intervalMs)
}

/** One batch of them. Whether there may be more. */
export async function takeBackCredits(
  parts: TakeBackParts,
  environment: Environment,
): Promise<boolean> {
  const { database, now } = parts.publisher
  const at = now()
  const againAt = new Date(at.getTime() + tryAgainAfterMs)
  const pool = database.in(environment)
  const due = await claimDueTakeBacks(pool, at, againAt, rowsPerClaimMax)
  await workOff(due, walletsInFlightMax, (each) => carryOut(parts, environment, each))
  return due.length === rowsPerClaimMax
}

async function carryOut(
  parts: TakeBackParts,
  environment: Environment,
  name: TakeBackName,
): Promise<void> {
  const { providerId, customerRef, reference } = name
  const wallet = { environment, providerId, customerRef }
  const operation = jobOperation('take-back-credits', wallet, parts.publisher.now())
  try {
    const hot = await readBeforeChange(parts, wallet)
    await commit(parts, operation, (work) => workOffTakeBack(work, name, hot, parts.wallets))
  } catch (error) {
    parts.logger.warn({ err: error, environment, reference }, 'credits wait to be taken back')
  }
}
