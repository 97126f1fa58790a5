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
import {
  openPaymentProcessors,
  type PaymentProcessors,
} from '@tollgate/platform/payments/open-payment-processors'
import { tracePaymentProcessors } from '@tollgate/platform/payments/trace-payment-processor'
import { openSecrets } from '@tollgate/platform/secrets/open-secrets'
import { openOwned, type Opened } from '@tollgate/platform/service/open-owned'
import type { ChargeInvoice } from '@tollgate/domain/charging/charge-invoice'
import { createSavedCardCharger } from '@tollgate/domain/charging/charge-saved-card'
import type { PaymentJobParts } from '@tollgate/domain/settlement/process-inbox'
import {
  createTaxServiceClient,
  type TaxServiceParts,
} from '@tollgate/domain/tax-service/ask-tax-service'
import { openTaxServices } from '@tollgate/domain/tax-service/open-tax-services'
import type { AskOutside } from '@tollgate/domain/unit-of-work/outside-question'
import { openDatabase } from '@tollgate/domain/postgres/open-database'
import { commitAndPublish } from '@tollgate/domain/publishing/commit-and-publish'
import type { PublisherParts } from '@tollgate/domain/publishing/publisher-parts'
import { withoutSlash } from '@tollgate/domain/sessions/hosted-url'
import { openTaxRegister, type TaxRegister } from '@tollgate/platform/tax-register/tax-register'
import { clickHouseConnection } from '@tollgate/platform/usage-store/clickhouse/clickhouse-settings'
import { createClickHouseUsageStore } from '@tollgate/platform/usage-store/clickhouse/clickhouse-usage-store'
import { traceUsageStore } from '@tollgate/platform/usage-store/trace-usage-store'
import type { UsageStore } from '@tollgate/platform/usage-store/usage-store'
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
  readonly usageStore: UsageStore
  readonly tracing: Tracing | undefined
  readonly processors: PaymentProcessors
  /** Absent if no register of tax ids is configured. */
  readonly taxRegister?: TaxRegister | undefined
  /** Clients of the tax services of providers, and the secrets that sign requests. Absent: no tax service is asked. */
  readonly taxServices?: Pick<TaxServiceParts, 'outbound' | 'secrets'> | undefined
  /** Charges saved cards. Undefined if no payment processor is configured. */
  readonly charge: ChargeInvoice | undefined
}

/** Opens the parts that the caller did not pass in. */
export async function openParts(
  config: BillingRunnerConfig,
  overrides: Partial<Parts>,
): Promise<Opened<Parts>> {
  const parts = await openUntraced(config, overrides)
  const { tracing, database, hotState, processors, usageStore } = parts
  const traced =
    tracing === undefined
      ? parts
      : {
          ...parts,
          database: traceDatabase(tracing, database),
          hotState: traceHotState(
            tracing,
            hotState,
            config.hotState === 'redis' ? 'redis' : 'lmdb',
          ),
          processors: tracePaymentProcessors(tracing, processors),
          usageStore: traceUsageStore(tracing, usageStore),
        }
  return { ...traced, charge: overrides.charge ?? chargeSavedCards(config, traced) }
}

/** Returns undefined if no payment processor is configured. */
function chargeSavedCards(
  { hostedUrl }: BillingRunnerConfig,
  parts: Omit<Parts, 'charge'>,
): ChargeInvoice | undefined {
  const { clock, database, processors } = parts
  if (environments.every((each) => processors.of(each) === undefined)) return undefined
  return createSavedCardCharger({
    database,
    processors,
    now: () => new Date(clock.now()),
    hostedUrl: withoutSlash(hostedUrl),
  })
}

/** Returns the parts with which the processor is read. */
export function paymentPartsOf(
  { hostedUrl }: Pick<BillingRunnerConfig, 'hostedUrl'>,
  parts: Omit<Parts, 'charge'> & { readonly ask?: AskOutside | undefined },
): PaymentJobParts {
  const { database, processors, logger, ask } = parts
  const publisher = publisherOf(parts)
  return {
    ask,
    database,
    everyone: database,
    processors,
    commit: (operation, body) => commitAndPublish({ ...parts, publisher }, operation, body),
    hostedUrl: withoutSlash(hostedUrl),
    now: publisher.now,
    logger,
  }
}

/** Returns the function that asks tax services. `count` is called after each question. */
export function taxServiceClientOf(
  limits: BillingRunnerConfig,
  { clock, logger, taxServices }: Omit<Parts, 'charge'>,
  count: TaxServiceParts['count'] = () => undefined,
): AskOutside | undefined {
  if (taxServices === undefined) return undefined
  const now = (): Date => new Date(clock.now())
  return createTaxServiceClient({ ...taxServices, logger, now, count, limits })
}

/** Returns the parts with which changes are published. */
export function publisherOf({
  clock,
  database,
  eventLog,
  hotState,
}: Pick<Parts, 'clock' | 'database' | 'eventLog' | 'hotState'>): PublisherParts {
  return {
    database,
    hotState,
    partitionCount: (environment) => eventLog.partitionCount(usageTopic(environment)),
    now: () => new Date(clock.now()),
  }
}

function openUntraced(
  config: BillingRunnerConfig,
  overrides: Partial<Parts>,
): Promise<Opened<Omit<Parts, 'charge'>>> {
  const logger = overrides.logger ?? createLogger('billing-runner', config.logLevel)
  return openOwned(async (own) => ({
    clock: overrides.clock ?? systemClock,
    logger,
    tracing: overrides.tracing,
    taxRegister: overrides.taxRegister ?? openTaxRegister(config),
    taxServices: overrides.taxServices ?? {
      outbound: await own(Promise.resolve(openTaxServices(config, logger))),
      secrets: await openSecrets(config, logger),
    },
    processors: overrides.processors ?? (await own(openPaymentProcessors(config))),
    database: overrides.database ?? (await own(openDatabase(config))),
    eventLog: overrides.eventLog ?? (await own(openLog(config, logger))),
    hotState: overrides.hotState ?? (await own(openHotState(config, 'publisher', logger))),
    usageStore: overrides.usageStore ?? (await own(openUsageStore(config))),
  }))
}

function openUsageStore(config: BillingRunnerConfig): UsageStore {
  const limits = { requestTimeoutMs: config.clickhouseTimeoutMs }
  return createClickHouseUsageStore(clickHouseConnection(config, limits))
}

/** Opens the log, of which only the heads and the positions of its consumers are read. */
function openLog(config: BillingRunnerConfig, logger: Logger): Promise<EventLog> {
  const topics = environments.map(usageTopic)
  return openEventLogForReading(config, { topics, values: meterEventValues, logger })
}
