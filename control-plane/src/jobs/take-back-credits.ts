import { jobActor } from '@tollgate/domain/audit/actor'
import {
  claimDueTakeBacks,
  type TakeBackName,
} from '@tollgate/domain/payments/take-backs-repository'
import { workOffTakeBack } from '@tollgate/domain/payments/work-off-take-back'
import { workOff } from '@tollgate/domain/publications/work-off'
import type { Service } from '@tollgate/platform/service/service'
import { environments, type Environment } from '@tollgate/schemas/environment'
import type { AppParts } from '../http/app-parts.ts'
import { commit } from '../http/commit.ts'
import { readBeforeChange } from '../wallets/expire-wallet.ts'
import { repeating } from './repeating.ts'

export type TakeBackParts = Pick<AppParts, 'database' | 'publisher' | 'logger'> & {
  readonly wallets: Pick<AppParts['wallets'], 'readHot' | 'hold' | 'release'>
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
  const round = async (): Promise<void> => {
    for (const environment of environments) {
      try {
        while (await takeBackCredits(parts, environment));
      } catch (error) {
        parts.logger.error({ err: error, environment }, 'credits wait to be taken back')
      }
    }
  }
  return repeating(round, intervalMs)
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
  const operation = {
    providerId,
    environment,
    now: parts.publisher.now(),
    actor: jobActor('take-back-credits'),
    requestId: null,
    idempotencyKey: null,
  }
  try {
    const hot = await readBeforeChange(parts, { ...operation, customerRef })
    await commit(parts, operation, (work) => workOffTakeBack(work, name, hot, parts.wallets))
  } catch (error) {
    parts.logger.warn({ err: error, environment, reference }, 'credits wait to be taken back')
  }
}
