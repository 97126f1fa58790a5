import type { Logger } from '@tollgate/platform/observability/logger'
import type { Service } from '@tollgate/platform/service/service'
import { publicationSpaces, publishPending } from '@tollgate/domain/publications/publisher'
import type { PublisherParts } from '@tollgate/domain/publications/publisher-parts'

/** Bounds one round, so that stopping never waits for a long backlog. */
const targetsPerRoundMax = 200

/**
 * Finishes publications that were committed but not carried out: the process died in between, or the hot state did
 * not answer. Runs at the start, before requests are taken, and then at the interval.
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
    try {
      while (!isStopped && (await publishSome(parts, logger)) >= targetsPerRoundMax);
    } catch (error) {
      logger.error({ err: error }, 'publications are waiting')
    }
    if (!isStopped) timer = setTimeout(begin, intervalMs)
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

async function publishSome(parts: PublisherParts, logger: Logger): Promise<number> {
  let published = 0
  for (const space of publicationSpaces) {
    published += await publishPending(parts, space, targetsPerRoundMax)
  }
  if (published > 0) logger.info({ published }, 'finished publications that had been left')
  return published
}
