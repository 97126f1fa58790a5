import { setTimeout as sleep } from 'node:timers/promises'
import type { HealthCheck } from '@tollgate/platform/service/health'
import type { Logger } from '@tollgate/platform/observability/logger'
import type { Service } from '@tollgate/platform/service/service'

const retryMs = 1_000

export type TableGate = Service & {
  /** Resolves once the tables are up to date; never when the gate is stopped before. */
  readonly opened: Promise<void>
  readonly health: HealthCheck
}

/**
 * Brings the tables up to date before the sink's loops start, and tries for as long as it takes: a store that is away
 * when the process starts must not keep the counters from counting.
 */
export function createTableGate(migrate: () => Promise<void>, logger: Logger): TableGate {
  const stopping = new AbortController()
  let failure = 'not tried yet'
  let isOpen = false
  let opening: Promise<void> | undefined
  let announce = (): void => undefined
  const opened = new Promise<void>((resolve) => (announce = resolve))
  const open = async (): Promise<void> => {
    while (!stopping.signal.aborted) {
      try {
        await migrate()
        isOpen = true
        announce()
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
    opened,
    start: async () => {
      opening ??= open()
    },
    stop: async () => {
      stopping.abort()
      await opening
    },
    health: {
      name: 'usage-tables',
      check: async () => {
        if (!isOpen) throw new Error(failure)
      },
    },
  }
}
