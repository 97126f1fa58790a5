import type { CommitParts } from '@tollgate/domain/publishing/commit-and-publish'
import { jobOperation } from '@tollgate/domain/unit-of-work/job-operation'
import { continueReplay, type ReplayPace } from '@tollgate/domain/webhooks/replay-deliveries'
import { listDueReplays, type ReplayKey } from '@tollgate/domain/webhooks/replays-repository'
import type { Service } from '@tollgate/platform/service/service'
import type { Environment } from '@tollgate/schemas/environment'
import { commit } from '../access/commit.ts'
import { repeatingInEach } from './repeating.ts'

/** Maximum number of replays in one round. The next round starts with the remaining ones. */
const replaysPerRoundMax = 100

/**
 * Continues replays: each round queues a few deliveries of each replay. Several processes may run it at the same time. A process
 * that continues the replay of another process queues no delivery twice.
 */
export function createWebhookReplays(parts: CommitParts, pace: ReplayPace): Service {
  const round = async (environment: Environment): Promise<void> => {
    const { database, now } = parts.publisher
    const due = await listDueReplays(database.in(environment), now(), replaysPerRoundMax)
    for (const replay of due) await queueNextBatch(parts, environment, replay, pace)
  }
  return repeatingInEach(
    parts.logger,
    'could not continue webhook replays; the next round retries',
    round,
    pace.intervalMs,
  )
}

async function queueNextBatch(
  parts: CommitParts,
  environment: Environment,
  { providerId, reference }: ReplayKey,
  pace: ReplayPace,
): Promise<void> {
  const provider = { environment, providerId }
  const operation = jobOperation('replay-webhooks', provider, parts.publisher.now())
  try {
    await commit(parts, operation, (work) => continueReplay(work, reference, pace))
  } catch (error) {
    parts.logger.warn(
      { err: error, environment, reference },
      'could not continue a webhook replay; the next round retries',
    )
  }
}
