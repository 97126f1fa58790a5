import type { Service } from '@tollgate/platform/service/service'
import { jobActor } from '@tollgate/domain/audit/actor'
import { sweepAccessTokens } from '@tollgate/domain/console/access-tokens'
import { sweepAttempts } from '@tollgate/domain/console/attempts'
import { sweepCliSessions } from '@tollgate/domain/console/cli-sessions'
import { listLapsed } from '@tollgate/domain/purchases/repository'
import { settleLapsed } from '@tollgate/domain/purchases/settle-lapsed'
import { sweepCustomerSessions } from '@tollgate/domain/sessions/customer-sessions'
import { environments, type Environment } from '@tollgate/schemas/environment'
import type { AppParts } from '../http/app-parts.ts'
import { commit } from '../http/commit.ts'
import { repeating } from './repeating.ts'

export type HousekeepingLimits = {
  readonly intervalMs: number
  /** How long a session is kept after it has expired, so that whoever asks is told that it has. */
  readonly sessionsKeptMs: number
}

/** Purchases and sessions of one round and environment: a stop waits for no more than that. */
const rowsPerRoundMax = 500

/** Sessions of command lines that have expired are told so for that long. */
const cliSessionsKeptMs = 3_600_000

type HousekeepingParts = Parameters<typeof commit>[0] & Pick<AppParts, 'clock'>

/**
 * Says of purchases whose end has passed that they have ended, which takes no access that was not gone already, and
 * deletes old sessions and what signing in to the console leaves behind. Several processes may do it at once: a purchase is locked and looked at again before it moves.
 */
export function createHousekeeping(
  parts: HousekeepingParts,
  { intervalMs, sessionsKeptMs }: HousekeepingLimits,
): Service {
  const round = async (): Promise<void> => {
    for (const environment of environments) {
      try {
        await endLapsed(parts, environment)
        await sweepSessions(parts, environment, sessionsKeptMs)
      } catch (error) {
        parts.logger.error({ err: error, environment }, 'housekeeping waits for its next round')
      }
    }
    try {
      await sweepConsole(parts)
    } catch (error) {
      parts.logger.error({ err: error }, 'housekeeping waits for its next round')
    }
  }
  return repeating(round, intervalMs)
}

async function endLapsed(parts: HousekeepingParts, environment: Environment): Promise<void> {
  const now = new Date(parts.clock.now())
  const lapsed = await listLapsed(parts.publisher.database.in(environment), now, rowsPerRoundMax)
  for (const { providerId, reference } of lapsed) {
    const operation = {
      providerId,
      environment,
      now,
      actor: jobActor('end-lapsed-purchases'),
      requestId: null,
      idempotencyKey: null,
    }
    await commit(parts, operation, (work) => settleLapsed(work, reference))
  }
}

async function sweepSessions(
  { publisher, clock }: HousekeepingParts,
  environment: Environment,
  keptMs: number,
): Promise<void> {
  const expiredBefore = new Date(clock.now() - keptMs)
  const pool = publisher.database.in(environment)
  await sweepCustomerSessions(pool, expiredBefore, rowsPerRoundMax)
}

async function sweepConsole({ publisher, clock }: HousekeepingParts): Promise<void> {
  const now = new Date(clock.now())
  const { control } = publisher.database
  await sweepAccessTokens(control, now, rowsPerRoundMax)
  await sweepAttempts(control, now, rowsPerRoundMax)
  const expiredBefore = new Date(now.getTime() - cliSessionsKeptMs)
  await sweepCliSessions(control, expiredBefore, rowsPerRoundMax)
}
