import type { Logger } from '@tollgate/platform/observability/logger'
import type { Service } from '@tollgate/platform/service/service'
import { recordPublishedKinds } from '@tollgate/domain/publishing/record-published-kinds'
import { publishPending } from '@tollgate/domain/publishing/publisher'
import { queueLost } from '@tollgate/domain/publishing/queue-lost'
import type { PublisherParts } from '@tollgate/domain/publishing/publisher-parts'

/**
 * Maximum number of targets of each kind and space in one round, so that neither the start nor the stop waits for a long backlog.
 */
const targetsPerRoundMax = 4_000

/**
 * Completes publications that were committed but not executed: the process crashed in between, the hot state did not respond, or it
 * lost data. Runs once at the start, before the service accepts requests, and then at the interval. While there is a backlog, it
 * runs without a pause.
 */
export function createPublishPendingJob(
  parts: PublisherParts,
  logger: Logger,
  intervalMs: number,
): Service {
  let timer: NodeJS.Timeout | undefined
  let running: Promise<void> = Promise.resolve()
  let isStopped = false

  const round = async (): Promise<void> => {
    let pauseMs = intervalMs
    try {
      if (await publishBatch(parts, logger)) pauseMs = 0
    } catch (error) {
      logger.error({ err: error }, 'could not publish; the next round retries')
    }
    if (!isStopped) timer = setTimeout(startRound, pauseMs)
  }
  const startRound = (): void => {
    running = round()
  }
  return {
    start: async () => {
      startRound()
      await running
    },
    stop: async () => {
      isStopped = true
      clearTimeout(timer)
      await running
    },
  }
}

/** Publishes a limited number of targets. Returns whether there may be more. */
async function publishBatch(parts: PublisherParts, logger: Logger): Promise<boolean> {
  const loss = await queueLost(parts)
  if (loss !== 'nothing') {
    logger.warn({ loss }, 'the hot state may have lost published documents; publishing them again')
  }
  const { published, failures, hasMore } = await publishPending(parts, targetsPerRoundMax)
  if (published > 0) logger.info({ published, hasMore }, 'completed pending publications')
  if (failures.length > 0) {
    const failed = failures.length
    logger.error({ err: failures[0], failed }, 'could not publish some targets')
  }
  const kinds = await recordPublishedKinds(parts)
  if (kinds.length > 0) logger.info({ kinds }, 'all documents of these kinds are published')
  return hasMore
}
