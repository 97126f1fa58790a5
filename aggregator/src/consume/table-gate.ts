import { setTimeout as sleep } from 'node:timers/promises'
import type { HealthCheck } from '@tollgate/platform/service/health'
import type { Logger } from '@tollgate/platform/observability/logger'
import type { Service } from '@tollgate/platform/service/service'

const retryMs = 1_000

export type TableGate = Service & {
  /** Resolves once the tables are migrated. Never resolves if the gate is stopped before. */
  readonly opened: Promise<void>
  readonly health: HealthCheck
}

/**
 * Migrates the tables before the loops of the sink start, and retries without a limit: a store that is away at the start of the
 * process must not prevent the counters from counting. A migration that fills tables may take hours, and ends when the process stops.
 */
export function createTableGate(
  migrate: (stopping: AbortSignal) => Promise<void>,
  logger: Logger,
): TableGate {
  const stopping = new AbortController()
  let failure = 'the usage tables are not migrated yet'
  let isOpen = false
  let opening: Promise<void> | undefined
  let announce = (): void => undefined
  const opened = new Promise<void>((resolve) => (announce = resolve))
  const open = async (): Promise<void> => {
    while (!stopping.signal.aborted) {
      try {
        await migrate(stopping.signal)
        isOpen = true
        announce()
        return
      } catch (error) {
        failure = error instanceof Error ? error.message : String(error)
        logger.warn({ err: error }, 'the usage tables could not be migrated, will be retried')
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
