import { systemClock, type Clock } from '@tollgate/platform/clock/clock'
import type { EventLog } from '@tollgate/platform/event-log/event-log'
import type { WritableEventLog } from '@tollgate/platform/event-log/event-log-config'
import type { NoteLease } from '@tollgate/platform/event-log/note-lease/note-lease'
import { openConfiguredNoteLease } from '@tollgate/platform/event-log/note-lease/open-configured'
import { openEventLogForWriting } from '@tollgate/platform/event-log/open-event-log'
import { traceEventLog } from '@tollgate/platform/event-log/trace-event-log'
import { withHeadsOf } from '@tollgate/platform/event-log/with-acknowledged-heads'
import type { HotState } from '@tollgate/platform/hot-state/hot-state'
import { openHotState } from '@tollgate/platform/hot-state/open-hot-state'
import { traceHotState } from '@tollgate/platform/hot-state/trace-hot-state'
import { createLogger, type Logger } from '@tollgate/platform/observability/logger'
import type { Tracing } from '@tollgate/platform/observability/tracing'
import { openOwned, type Opened } from '@tollgate/platform/service/open-owned'
import { environments } from '@tollgate/schemas/environment'
import { currentSchemaId } from '@tollgate/schemas/meter-event'
import { meterEventValues } from '@tollgate/schemas/meter-event-values'
import { usageTopic } from '@tollgate/schemas/topics'
import type { IngestConfig } from './config.ts'

export type Parts = {
  readonly clock: Clock
  readonly logger: Logger
  readonly eventLog: EventLog
  /** Id of the current schema of meter events in the log. */
  readonly schemaId: number
  readonly hotState: HotState
  readonly tracing: Tracing | undefined
  /** Undefined if limit checks ask the log for every head. */
  readonly noteLease: NoteLease | undefined
}

/** Opens the parts that the caller did not pass in. */
export async function openParts(
  config: IngestConfig,
  overrides: Partial<Parts>,
): Promise<Opened<Parts>> {
  const parts = await openUntraced(config, overrides)
  const { tracing, eventLog, hotState } = parts
  if (tracing === undefined) return parts
  const logSystem = config.eventLog === 'kafka' ? 'kafka' : 'tollgate'
  const hotSystem = config.hotState === 'redis' ? 'redis' : 'lmdb'
  return {
    ...parts,
    eventLog: traceEventLog(tracing, eventLog, logSystem),
    hotState: traceHotState(tracing, hotState, hotSystem),
  }
}

function openUntraced(config: IngestConfig, overrides: Partial<Parts>): Promise<Opened<Parts>> {
  const logger = overrides.logger ?? createLogger('ingest', config.logLevel)
  return openOwned(async (own) => {
    const { eventLog } = overrides
    const { log, schemaId } =
      eventLog === undefined
        ? await own(openLog(config, logger))
        : { log: eventLog, schemaId: overrides.schemaId ?? currentSchemaId }
    const hotState = overrides.hotState ?? (await own(openHotState(config, 'reader', logger)))
    const noteLease = await openConfiguredNoteLease(config, { hotState, log, topics, logger })
    if (noteLease !== undefined) await own(noteLease)
    return {
      clock: overrides.clock ?? systemClock,
      logger,
      eventLog: withHeadsOf(hotState, log, config, noteLease),
      noteLease,
      schemaId,
      tracing: overrides.tracing,
      hotState,
    }
  })
}

const topics = environments.map(usageTopic)

/** On one machine only this process writes the log. In a cluster every ingest process does. */
function openLog(config: IngestConfig, logger: Logger): Promise<WritableEventLog> {
  return openEventLogForWriting(config, { topics, values: meterEventValues, logger })
}
