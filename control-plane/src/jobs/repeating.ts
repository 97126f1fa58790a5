import type { Logger } from '@tollgate/platform/observability/logger'
import type { PublisherParts } from '@tollgate/domain/publishing/publisher-parts'
import type { Service } from '@tollgate/platform/service/service'
import { environments, type Environment } from '@tollgate/schemas/environment'

/** What a job works with that serves all providers. */
export type JobParts = { readonly publisher: PublisherParts; readonly logger: Logger }

/**
 * Does rounds of work one after the other, with a pause in between, from the start to the stop, which waits for the
 * round under way. A round that fails is the round's to tell of; it must not throw.
 */
export function repeating(round: () => Promise<void>, pauseMs: number): Service {
  let timer: NodeJS.Timeout | undefined
  let running: Promise<void> = Promise.resolve()
  let isStopped = false

  const begin = (): void => {
    running = round().finally(schedule)
  }
  const schedule = (): void => {
    if (!isStopped) timer = setTimeout(begin, pauseMs)
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

/** A round of one environment after the other. What fails in one is complained of, and holds up no other. */
export function repeatingInEach(
  logger: Logger,
  complaint: string,
  round: (environment: Environment) => Promise<void>,
  pauseMs: number,
): Service {
  return repeating(async () => {
    for (const environment of environments) {
      try {
        await round(environment)
      } catch (error) {
        logger.error({ err: error, environment }, complaint)
      }
    }
  }, pauseMs)
}
