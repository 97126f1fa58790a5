import { join } from 'node:path'
import { systemClock, type Clock } from '@tollgate/platform/clock/clock'
import type { EventLog } from '@tollgate/platform/event-log/event-log'
import { openFileEventLog } from '@tollgate/platform/event-log/files/file-event-log'
import type { HotState } from '@tollgate/platform/hot-state/hot-state'
import { openHotState } from '@tollgate/platform/hot-state/open-hot-state'
import { createLogger, type Logger } from '@tollgate/platform/observability/logger'
import { openOwned } from '@tollgate/platform/service/open-owned'
import { environments } from '@tollgate/schemas/environment'
import { usageTopic } from '@tollgate/schemas/topics'
import type { IngestConfig } from './config.ts'

export type Parts = {
  readonly clock: Clock
  readonly logger: Logger
  readonly eventLog: EventLog
  readonly hotState: HotState
}

export type OpenedParts = Parts & {
  /** Closes what was opened here, and nothing that was passed in. */
  readonly close: () => Promise<void>
}

/** The parts that the caller did not bring, opened as a process of its own opens them. */
export function openParts(config: IngestConfig, overrides: Partial<Parts>): Promise<OpenedParts> {
  const logger = overrides.logger ?? createLogger('ingest', config.logLevel)
  return openOwned(async (own) => ({
    clock: overrides.clock ?? systemClock,
    logger,
    eventLog: overrides.eventLog ?? (await own(openLog(config))),
    hotState: overrides.hotState ?? (await own(openHotState(config, 'reader', logger))),
  }))
}

/** This process alone writes the log. */
function openLog(config: IngestConfig): Promise<EventLog> {
  return openFileEventLog({
    logFolder: join(config.dataDir, 'log'),
    groupsFolder: join(config.dataDir, 'groups'),
    role: 'writer',
    topics: Object.fromEntries(
      environments.map((environment) => [usageTopic(environment), config.logPartitions]),
    ),
  })
}
