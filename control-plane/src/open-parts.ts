import { systemClock, type Clock } from '@tollgate/platform/clock/clock'
import type { Database } from '@tollgate/platform/database/database'
import { traceDatabase } from '@tollgate/platform/database/postgres/trace-database'
import type { EventLog } from '@tollgate/platform/event-log/event-log'
import { openEventLogForReading } from '@tollgate/platform/event-log/open-event-log'
import { withHeadsOf } from '@tollgate/platform/event-log/with-acknowledged-heads'
import type { HotState } from '@tollgate/platform/hot-state/hot-state'
import { openHotState } from '@tollgate/platform/hot-state/open-hot-state'
import { traceHotState } from '@tollgate/platform/hot-state/trace-hot-state'
import { createLogger, type Logger } from '@tollgate/platform/observability/logger'
import type { Tracing } from '@tollgate/platform/observability/tracing'
import { openOutbound, type Outbound } from '@tollgate/platform/outbound/open-outbound'
import {
  openPaymentProcessors,
  type PaymentProcessors,
} from '@tollgate/platform/payments/open-payment-processors'
import { tracePaymentProcessors } from '@tollgate/platform/payments/trace-payment-processor'
import { openSecrets, type Secrets } from '@tollgate/platform/secrets/open-secrets'
import { openOwned, type Opened } from '@tollgate/platform/service/open-owned'
import { openTaxRegister, type TaxRegister } from '@tollgate/platform/tax-register/tax-register'
import { clickHouseConnection } from '@tollgate/platform/usage-store/clickhouse/clickhouse-settings'
import { createClickHouseUsageStore } from '@tollgate/platform/usage-store/clickhouse/clickhouse-usage-store'
import { traceUsageStore } from '@tollgate/platform/usage-store/trace-usage-store'
import type { UsageStore } from '@tollgate/platform/usage-store/usage-store'
import { openDatabase } from '@tollgate/domain/postgres/open-database'
import { openTaxServices } from '@tollgate/domain/tax-service/open-tax-services'
import { environments } from '@tollgate/schemas/environment'
import { meterEventValues } from '@tollgate/schemas/meter-event-values'
import { usageTopic } from '@tollgate/schemas/topics'
import type { ControlPlaneConfig } from './config.ts'
import type { AppendRecords } from './usage-corrections/append-records.ts'
import { createUpstreams, type Upstreams } from './upstream/upstreams.ts'

export type Parts = {
  readonly clock: Clock
  readonly logger: Logger
  readonly database: Database
  readonly eventLog: EventLog
  readonly hotState: HotState
  readonly usageStore: UsageStore
  readonly tracing: Tracing | undefined
  readonly secrets: Secrets
  readonly processors: PaymentProcessors
  /** Absent if no register of tax ids is configured. */
  readonly taxRegister?: TaxRegister | undefined
  /** Sends requests to servers of providers. */
  readonly outbound: Outbound
  /** Sends requests to tax services of providers. */
  readonly taxServices: Outbound
  /** The services with whose accounts customers may sign in. */
  readonly upstreams: Upstreams
  /** Appends the records of corrections to the log, in place of ingest at `TOLLGATE_INGEST_URL`. */
  readonly appendCorrections?: AppendRecords | undefined
}

/** Opens the parts that the caller did not pass, as a separate process would open them. */
export async function openParts(
  config: ControlPlaneConfig,
  overrides: Partial<Parts>,
): Promise<Opened<Parts>> {
  const parts = await openUntraced(config, overrides)
  const { tracing, database, hotState, usageStore, processors } = parts
  if (tracing === undefined) return parts
  return {
    ...parts,
    database: traceDatabase(tracing, database),
    hotState: traceHotState(tracing, hotState, config.hotState === 'redis' ? 'redis' : 'lmdb'),
    usageStore: traceUsageStore(tracing, usageStore),
    processors: tracePaymentProcessors(tracing, processors),
  }
}

function openUntraced(
  config: ControlPlaneConfig,
  overrides: Partial<Parts>,
): Promise<Opened<Parts>> {
  const logger = overrides.logger ?? createLogger('control-plane', config.logLevel)
  return openOwned(async (own) => {
    const database = overrides.database ?? (await own(openDatabase(config)))
    const log = overrides.eventLog ?? (await own(openLog(config, logger)))
    const hotState = overrides.hotState ?? (await own(openHotState(config, 'publisher', logger)))
    return {
      clock: overrides.clock ?? systemClock,
      logger,
      tracing: overrides.tracing,
      taxRegister: overrides.taxRegister ?? openTaxRegister(config),
      database,
      eventLog: withHeadsOf(hotState, log, config),
      hotState,
      processors: overrides.processors ?? (await own(openPaymentProcessors(config))),
      secrets: overrides.secrets ?? (await openSecrets(config, logger)),
      outbound:
        overrides.outbound ?? (await own(openOutbound(config, config.mcpAnswerBytesMax, logger))),
      taxServices:
        overrides.taxServices ?? (await own(Promise.resolve(openTaxServices(config, logger)))),
      appendCorrections: overrides.appendCorrections,
      upstreams: overrides.upstreams ?? (await own(Promise.resolve(createUpstreams(config)))),
      usageStore: overrides.usageStore ?? (await own(openUsageStore(config))),
    }
  })
}

/** Opens the log for reading. Ingest writes the log; this service reads only its heads and the positions of its consumers. */
function openLog(config: ControlPlaneConfig, logger: Logger): Promise<EventLog> {
  const topics = environments.map(usageTopic)
  return openEventLogForReading(config, { topics, values: meterEventValues, logger })
}

function openUsageStore(config: ControlPlaneConfig): UsageStore {
  const limits = { requestTimeoutMs: config.clickhouseTimeoutMs }
  return createClickHouseUsageStore(clickHouseConnection(config, limits))
}
