import { setTimeout as sleep } from 'node:timers/promises'
import type { HealthCheck } from '@tollgate/platform/service/health'
import type { Logger } from '@tollgate/platform/observability/logger'
import type { Service } from '@tollgate/platform/service/service'

const retryMs = 1_000

/**
 * Starts the sink's loops once the tables are up to date, and tries for as long as it takes: a store that is away
 * when the process starts must not keep the counters from counting.
 */
export function createTableGate(
  migrate: () => Promise<void>,
  loops: readonly Service[],
  logger: Logger,
): Service & { readonly health: HealthCheck } {
  const stopping = new AbortController()
  let failure = 'not tried yet'
  let isOpen = false
  let opening: Promise<void> | undefined
  const open = async (): Promise<void> => {
    while (!stopping.signal.aborted) {
      try {
        await migrate()
        if (stopping.signal.aborted) return
        await Promise.all(loops.map((loop) => loop.start()))
        isOpen = true
        return
      } catch (error) {
        failure = error instanceof Error ? error.message : String(error)
        logger.warn(
          { err: error },
          'usage tables cannot be brought up to date, will be tried again',
        )
        await sleep(retryMs, undefined, { signal: stopping.signal }).catch(() => undefined)
      }
    }
  }
  return {
    start: async () => {
      opening ??= open()
    },
    stop: async () => {
      stopping.abort()
      await opening
      await Promise.all(loops.map((loop) => loop.stop()))
    },
    health: {
      name: 'usage-tables',
      check: async () => {
        if (!isOpen) throw new Error(failure)
      },
    },
  }
}
