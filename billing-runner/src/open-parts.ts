import { systemClock, type Clock } from '@tollgate/platform/clock/clock'
import type { Database } from '@tollgate/platform/database/database'
import { traceDatabase } from '@tollgate/platform/database/postgres/trace-database'
import type { EventLog } from '@tollgate/platform/event-log/event-log'
import { openEventLogForReading } from '@tollgate/platform/event-log/open-event-log'
import type { HotState } from '@tollgate/platform/hot-state/hot-state'
import { openHotState } from '@tollgate/platform/hot-state/open-hot-state'
import { traceHotState } from '@tollgate/platform/hot-state/trace-hot-state'
import { createLogger, type Logger } from '@tollgate/platform/observability/logger'
import type { Tracing } from '@tollgate/platform/observability/tracing'
import { openOwned } from '@tollgate/platform/service/open-owned'
import type { ChargeInvoice } from '@tollgate/domain/charging/charge-invoice'
import { openDatabase } from '@tollgate/domain/postgres/open-database'
import { environments } from '@tollgate/schemas/environment'
import { meterEventValues } from '@tollgate/schemas/meter-event-values'
import { usageTopic } from '@tollgate/schemas/topics'
import type { BillingRunnerConfig } from './config.ts'

export type Parts = {
  readonly clock: Clock
  readonly logger: Logger
  readonly database: Database
  readonly eventLog: EventLog
  readonly hotState: HotState
  readonly tracing: Tracing | undefined
  /** Undefined: nothing can be charged. */
  readonly charge: ChargeInvoice | undefined
}

export type OpenedParts = Parts & {
  /** Closes what was opened here, and nothing that was passed in. */
  readonly close: () => Promise<void>
}

/** The parts that the caller did not bring, opened as a process of its own opens them. */
export async function openParts(
  config: BillingRunnerConfig,
  overrides: Partial<Parts>,
): Promise<OpenedParts> {
  const parts = await openUntraced(config, overrides)
  const { tracing, database, hotState } = parts
  if (tracing === undefined) return parts
  return {
    ...parts,
    database: traceDatabase(tracing, database),
    hotState: traceHotState(tracing, hotState, config.hotState === 'redis' ? 'redis' : 'lmdb'),
  }
}

function openUntraced(
  config: BillingRunnerConfig,
  overrides: Partial<Parts>,
): Promise<OpenedParts> {
  const logger = overrides.logger ?? createLogger('billing-runner', config.logLevel)
  return openOwned(async (own) => ({
    clock: overrides.clock ?? systemClock,
    logger,
    tracing: overrides.tracing,
    charge: overrides.charge,
    database: overrides.database ?? (await own(openDatabase(config))),
    eventLog: overrides.eventLog ?? (await own(openLog(config, logger))),
    hotState: overrides.hotState ?? (await own(openHotState(config, 'publisher', logger))),
  }))
}

/** Only the number of its partitions is asked for: what is published lies beside the counters of its subject. */
function openLog(config: BillingRunnerConfig, logger: Logger): Promise<EventLog> {
  const topics = environments.map(usageTopic)
  return openEventLogForReading(config, { topics, values: meterEventValues, logger })
}
