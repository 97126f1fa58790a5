import type { Service } from '@tollgate/platform/service/service'
import { listLapsed } from '@tollgate/domain/purchases/repository'
import { settleLapsed } from '@tollgate/domain/purchases/settle-lapsed'
import { sweepCustomerSessions } from '@tollgate/domain/sessions/customer-sessions'
import { environments, type Environment } from '@tollgate/schemas/environment'
import type { AppParts } from '../http/app-parts.ts'
import { commit } from '../http/commit.ts'

export type HousekeepingLimits = {
  readonly intervalMs: number
  /** How long a session is kept after it has expired, so that whoever asks is told that it has. */
  readonly sessionsKeptMs: number
}

/** Purchases and sessions of one round and environment: a stop waits for no more than that. */
const rowsPerRoundMax = 500

type HousekeepingParts = Parameters<typeof commit>[0] & Pick<AppParts, 'clock'>

/**
 * Says of purchases whose end has passed that they have ended, which takes no access that was not gone already, and
 * deletes old sessions. Several processes may do it at once: a purchase is locked and looked at again before it moves.
 */
export function createHousekeeping(
  parts: HousekeepingParts,
  { intervalMs, sessionsKeptMs }: HousekeepingLimits,
): Service {
  let timer: NodeJS.Timeout | undefined
  let running: Promise<void> = Promise.resolve()
  let isStopped = false

  const round = async (): Promise<void> => {
    for (const environment of environments) {
      try {
        await endLapsed(parts, environment)
        await sweepSessions(parts, environment, sessionsKeptMs)
      } catch (error) {
        parts.logger.error({ err: error, environment }, 'housekeeping waits for its next round')
      }
    }
    schedule()
  }
  const begin = (): void => {
    running = round()
  }
  const schedule = (): void => {
    if (!isStopped) timer = setTimeout(begin, intervalMs)
  }
  return {
    start: () => {
      schedule()
      return Promise.resolve()
    },
    stop: async () => {
      isStopped = true
      clearTimeout(timer)
      await running
    },
  }
}

async function endLapsed(parts: HousekeepingParts, environment: Environment): Promise<void> {
  const now = new Date(parts.clock.now())
  const lapsed = await listLapsed(parts.database.in(environment), now, rowsPerRoundMax)
  for (const { providerId, reference } of lapsed) {
    const operation = { providerId, environment, now, requestId: null, idempotencyKey: null }
    await commit(parts, operation, (work) => settleLapsed(work, reference))
  }
}

async function sweepSessions(
  { database, clock }: HousekeepingParts,
  environment: Environment,
  keptMs: number,
): Promise<void> {
  const expiredBefore = new Date(clock.now() - keptMs)
  await sweepCustomerSessions(database.in(environment), expiredBefore, rowsPerRoundMax)
}
