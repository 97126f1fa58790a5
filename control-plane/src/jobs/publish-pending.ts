import type { Logger } from '@tollgate/platform/observability/logger'
import type { Service } from '@tollgate/platform/service/service'
import { publicationSpaces, publishPending } from '@tollgate/domain/publications/publisher'
import { queueEverythingIfLost } from '@tollgate/domain/publications/queue-everything'
import type { PublisherParts } from '@tollgate/domain/publications/publisher-parts'

/** Bounds one round in each space, so that neither starting nor stopping waits for a long backlog. */
const targetsPerRoundMax = 500

/**
 * Finishes publications that were committed but not carried out: the process died in between, the hot state did not
 * answer, or it lost everything. Runs once at the start, before requests are taken, and then at the interval; while
 * there is a backlog, without a pause.
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
      if (await publishSome(parts, logger)) pauseMs = 0
    } catch (error) {
      logger.error({ err: error }, 'publications are waiting')
    }
    if (!isStopped) timer = setTimeout(begin, pauseMs)
  }
  const begin = (): void => {
    running = round()
  }
  return {
    start: async () => {
      begin()
      await running
    },
    stop: async () => {
      isStopped = true
      clearTimeout(timer)
      await running
    },
  }
}

/** Whether there may be more. */
async function publishSome(parts: PublisherParts, logger: Logger): Promise<boolean> {
  if (await queueEverythingIfLost(parts.database, parts.hotState)) {
    logger.info('the hot state is empty: everything is published anew')
  }
  let published = 0
  let hasMore = false
  for (const space of publicationSpaces) {
    const count = await publishPending(parts, space, targetsPerRoundMax)
    published += count
    hasMore ||= count === targetsPerRoundMax
  }
  if (published > 0) logger.info({ published }, 'finished publications that had been left')
  return hasMore
}
