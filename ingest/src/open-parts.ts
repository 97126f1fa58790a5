import { join } from 'node:path'
import { systemClock, type Clock } from '@tollgate/platform/clock/clock'
import type { EventLog } from '@tollgate/platform/event-log/event-log'
import { openLmdbEventLog } from '@tollgate/platform/event-log/lmdb/lmdb-event-log'
import type { HotState } from '@tollgate/platform/hot-state/hot-state'
import { openLmdbHotState } from '@tollgate/platform/hot-state/lmdb/lmdb-hot-state'
import { createLogger, type Logger } from '@tollgate/platform/observability/logger'
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
export async function openParts(
  config: IngestConfig,
  overrides: Partial<Parts>,
): Promise<OpenedParts> {
  const opened: { close(): Promise<void> }[] = []
  const own = async <Part extends { close(): Promise<void> }>(part: Promise<Part>) => {
    opened.push(await part)
    return await part
  }
  const close = async (): Promise<void> => {
    for (let part = opened.pop(); part !== undefined; part = opened.pop()) await part.close()
  }
  try {
    return {
      clock: overrides.clock ?? systemClock,
      logger: overrides.logger ?? createLogger('ingest', config.logLevel),
      eventLog: overrides.eventLog ?? (await own(openLog(config))),
      hotState: overrides.hotState ?? (await own(openHotState(config))),
      close,
    }
  } catch (error) {
    await close()
    throw error
  }
}

/** This process alone writes the log. */
function openLog(config: IngestConfig): Promise<EventLog> {
  return openLmdbEventLog({
    logFolder: join(config.dataDir, 'log'),
    groupsFolder: join(config.dataDir, 'groups'),
    role: 'writer',
    topics: Object.fromEntries(
      environments.map((environment) => [usageTopic(environment), config.logPartitions]),
    ),
  })
}

function openHotState(config: IngestConfig): Promise<HotState> {
  return openLmdbHotState({ folder: join(config.dataDir, 'hot'), role: 'reader' })
}
