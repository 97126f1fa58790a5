import type { Service } from '@tollgate/platform/service/service'
import { jobActor } from '@tollgate/domain/audit/actor'
import { sweepAccessTokens } from '@tollgate/domain/console/access-tokens'
import { sweepAttempts } from '@tollgate/domain/console/attempts'
import { sweepCliSessions } from '@tollgate/domain/console/cli-sessions'
import { listLapsed } from '@tollgate/domain/purchases/repository'
import { settleLapsed } from '@tollgate/domain/purchases/settle-lapsed'
import {
  expireCheckoutSession,
  listAbandonedCheckouts,
} from '@tollgate/domain/sessions/checkout-sessions'
import { sweepCustomerSessions } from '@tollgate/domain/sessions/customer-sessions'
import type { Operation } from '@tollgate/domain/unit-of-work/unit-of-work'
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

type HousekeepingParts = Parameters<typeof commit>[0] & Pick<AppParts, 'clock' | 'hostedUrl'>

/**
 * Says of purchases and checkouts whose end has passed that they have ended, which takes nothing that was not gone
 * already, and deletes old sessions and what signing in to the console leaves behind. Several processes may do it at
 * once: what ends is looked at again under its lock.
 */
export function createHousekeeping(
  parts: HousekeepingParts,
  { intervalMs, sessionsKeptMs }: HousekeepingLimits,
): Service {
  const round = async (): Promise<void> => {
    for (const environment of environments) {
      try {
        await endLapsed(parts, environment)
        await endAbandoned(parts, environment)
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
    const operation = operationOf('end-lapsed-purchases', providerId, environment, now)
    await commit(parts, operation, (work) => settleLapsed(work, reference))
  }
}

async function endAbandoned(parts: HousekeepingParts, environment: Environment): Promise<void> {
  const now = new Date(parts.clock.now())
  const pool = parts.publisher.database.in(environment)
  const abandoned = await listAbandonedCheckouts(pool, now, rowsPerRoundMax)
  for (const { providerId, sessionId } of abandoned) {
    const operation = operationOf('end-abandoned-checkouts', providerId, environment, now)
    await commit(parts, operation, (work) =>
      expireCheckoutSession(work, parts.hostedUrl, sessionId),
    )
  }
}

function operationOf(
  job: string,
  providerId: string,
  environment: Environment,
  now: Date,
): Operation {
  const actor = jobActor(job)
  return { providerId, environment, now, actor, requestId: null, idempotencyKey: null }
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
