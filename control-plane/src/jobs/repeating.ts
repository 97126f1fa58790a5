import type { Logger } from '@tollgate/platform/observability/logger'
import type { PublisherParts } from '@tollgate/domain/publishing/publisher-parts'
import type { Service } from '@tollgate/platform/service/service'
import { environments, type Environment } from '@tollgate/schemas/environment'

/** The parts of a job that serves all providers. */
export type JobParts = { readonly publisher: PublisherParts; readonly logger: Logger }

/**
 * Runs rounds one after another, with a pause in between, from the start to the stop. The stop waits for the current round. A round
 * must log its own failure and must not throw.
 */
export function repeating(round: () => Promise<void>, pauseMs: number): Service {
  let timer: NodeJS.Timeout | undefined
  let running: Promise<void> = Promise.resolve()
  let isStopped = false

  const startRound = (): void => {
    running = round().finally(schedule)
  }
  const schedule = (): void => {
    if (!isStopped) timer = setTimeout(startRound, pauseMs)
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

/** Runs each round for one environment after another. A failure is logged and does not delay the other environment. */
export function repeatingInEach(
  logger: Logger,
  message: string,
  round: (environment: Environment) => Promise<void>,
  pauseMs: number,
): Service {
  return repeating(async () => {
    for (const environment of environments) {
      await reportFailure(
        () => round(environment),
        (err) => logger.error({ err, environment }, message),
      )
    }
  }, pauseMs)
}

/** Runs a step of a round. A failure is reported and does not stop the round. */
export async function reportFailure(
  step: () => Promise<unknown>,
  report: (error: unknown) => void,
): Promise<void> {
  try {
    await step()
  } catch (error) {
    report(error)
  }
}
