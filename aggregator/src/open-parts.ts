import { systemClock, type Clock } from '@tollgate/platform/clock/clock'
import type { EventLog } from '@tollgate/platform/event-log/event-log'
import { openEventLogForReading } from '@tollgate/platform/event-log/open-event-log'
import type { HotState } from '@tollgate/platform/hot-state/hot-state'
import { openHotState } from '@tollgate/platform/hot-state/open-hot-state'
import { traceHotState } from '@tollgate/platform/hot-state/trace-hot-state'
import { createLogger, type Logger } from '@tollgate/platform/observability/logger'
import type { Tracing } from '@tollgate/platform/observability/tracing'
import { openOwned, type Opened } from '@tollgate/platform/service/open-owned'
import { clickHouseConnection } from '@tollgate/platform/usage-store/clickhouse/clickhouse-settings'
import {
  createClickHouseUsageStore,
  type ClickHouseConnection,
} from '@tollgate/platform/usage-store/clickhouse/clickhouse-usage-store'
import { traceUsageStore } from '@tollgate/platform/usage-store/trace-usage-store'
import type { UsageStore } from '@tollgate/platform/usage-store/usage-store'
import { environments } from '@tollgate/schemas/environment'
import { meterEventValues } from '@tollgate/schemas/meter-event-values'
import { usageTopic } from '@tollgate/schemas/topics'
import type { AggregatorConfig } from './config.ts'

export type Parts = {
  readonly clock: Clock
  readonly logger: Logger
  readonly eventLog: EventLog
  readonly hotState: HotState
  readonly usageStore: UsageStore
  readonly tracing: Tracing | undefined
}

/** Opens the parts that the caller did not pass in. */
export async function openParts(
  config: AggregatorConfig,
  overrides: Partial<Parts>,
): Promise<Opened<Parts>> {
  const parts = await openUntraced(config, overrides)
  const { tracing, hotState, usageStore } = parts
  if (tracing === undefined) return parts
  return {
    ...parts,
    hotState: traceHotState(tracing, hotState, config.hotState === 'redis' ? 'redis' : 'lmdb'),
    usageStore: traceUsageStore(tracing, usageStore),
  }
}

function openUntraced(config: AggregatorConfig, overrides: Partial<Parts>): Promise<Opened<Parts>> {
  const logger = overrides.logger ?? createLogger('aggregator', config.logLevel)
  const role = config.projection === 'sink' ? 'publisher' : 'projection'
  return openOwned(async (own) => ({
    clock: overrides.clock ?? systemClock,
    logger,
    tracing: overrides.tracing,
    eventLog: overrides.eventLog ?? (await own(openLog(config, logger))),
    hotState: overrides.hotState ?? (await own(openHotState(config, role, logger))),
    usageStore:
      overrides.usageStore ?? (await own(createClickHouseUsageStore(clickHouseOf(config)))),
  }))
}

export function clickHouseOf(config: AggregatorConfig): ClickHouseConnection {
  return clickHouseConnection(config, {
    requestTimeoutMs: config.clickhouseTimeoutMs,
    // One for the counters and one for the totals, beside the batches.
    connectionsMax: config.sinkConcurrencyMax + 2,
  })
}

/** Opens the log for reading, since only ingest writes it. The positions of the sink are stored beside it. */
function openLog(config: AggregatorConfig, logger: Logger): Promise<EventLog> {
  const topics = environments.map(usageTopic)
  return openEventLogForReading(config, { topics, values: meterEventValues, logger })
}
