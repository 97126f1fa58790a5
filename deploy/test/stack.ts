import { jobActor } from '@tollgate/domain/audit/actor'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readAggregatorConfig } from '@tollgate/aggregator/config'
import { createAggregator } from '@tollgate/aggregator/service'
import { readBillingRunnerConfig } from '@tollgate/billing-runner/config'
import { createBillingRunner } from '@tollgate/billing-runner/service'
import { readControlPlaneConfig } from '@tollgate/control-plane/config'
import { createControlPlane } from '@tollgate/control-plane/service'
import { issueApiKey } from '@tollgate/domain/publishing/issue-api-key'
import { migrationsFolder } from '@tollgate/domain/postgres/migrations-folder'
import { createProvider } from '@tollgate/domain/providers/create-provider'
import { readIngestConfig } from '@tollgate/ingest/config'
import { createIngest } from '@tollgate/ingest/service'
import { systemClock, type Clock } from '@tollgate/platform/clock/clock'
import type { Database } from '@tollgate/platform/database/database'
import type { EventLog } from '@tollgate/platform/event-log/event-log'
import { dataDirSetting } from '@tollgate/platform/config/data-dir'
import { readSettings } from '@tollgate/platform/config/settings'
import {
  eventLogSettings,
  eventLogWriterSettings,
} from '@tollgate/platform/event-log/event-log-settings'
import { openEventLogForWriting } from '@tollgate/platform/event-log/open-event-log'
import type { HotState } from '@tollgate/platform/hot-state/hot-state'
import { hotStateSettings } from '@tollgate/platform/hot-state/hot-state-settings'
import { openHotState } from '@tollgate/platform/hot-state/open-hot-state'
import { createLogger } from '@tollgate/platform/observability/logger'
import type { PaymentProcessors } from '@tollgate/platform/payments/open-payment-processors'
import type { Service } from '@tollgate/platform/service/service'
import { startTestDatabase, startTestUsageStore } from '@tollgate/platform/testing/embedded-servers'
import { freePort } from '@tollgate/platform/testing/free-ports'
import type { UsageStore } from '@tollgate/platform/usage-store/usage-store'
import { environments, type Environment } from '@tollgate/schemas/environment'
import { meterEventValues } from '@tollgate/schemas/meter-event-values'
import { usageTopic } from '@tollgate/schemas/topics'
import { readWebhookDispatcherConfig } from '@tollgate/webhook-dispatcher/config'
import { createWebhookDispatcher } from '@tollgate/webhook-dispatcher/service'
import { createTollgateClient, type TollgateClient } from '../src/client/tollgate-client.ts'

type TestProvider = Readonly<Record<Environment, TollgateClient>> & {
  readonly providerId: string
  /** API keys of the clients. */
  readonly keys: Readonly<Record<Environment, string>>
}

/** All services in this process, on real parts, with one clock that a test may control. */
export type Stack = {
  readonly baseUrl: string
  /** Settings with which a process of its own uses the same stores and the same control plane. */
  readonly environment: Readonly<Record<string, string>>
  readonly database: Database
  readonly eventLog: EventLog
  readonly hotState: HotState
  readonly usageStore: UsageStore
  readonly controlPlaneAdminUrl: string
  /** Creates a new provider, with a client for each of its keys. */
  createProvider(): Promise<TestProvider>
  clientWithKey(key: string): TollgateClient
  /** Stops the counters and the sink at their current positions. */
  stopProjections(): Promise<void>
  startProjections(): Promise<void>
  stop(): Promise<void>
}

/** Settings of parts that the services share here, and that each would otherwise open itself. */
const sharedSettings = {
  ...eventLogSettings,
  ...eventLogWriterSettings,
  ...hotStateSettings,
  dataDir: dataDirSetting,
}

type StackOptions = {
  readonly clock?: Clock
  /** Hot state to use. It is not closed. */
  readonly hotState?: HotState
  /** Hot state as used by ingest, if it is different. It is not closed. */
  readonly ingestHotState?: HotState
  /** Settings in addition to, or instead of, those of an embedded installation. */
  readonly settings?: Readonly<Record<string, string>>
  /** Processors of the control plane. They are not closed. */
  readonly processors?: PaymentProcessors
  /** Whether scheduled jobs run. By default they do not, because they would affect other tests. */
  readonly hasBillingRunner?: boolean
  /** Whether events are sent to webhook endpoints. */
  readonly hasWebhookDispatcher?: boolean
  /** Silent if a test provokes errors of the services. Default: errors. */
  readonly logLevel?: 'silent'
}

export async function startStack(options: StackOptions = {}): Promise<Stack> {
  const clock = options.clock ?? systemClock
  const dataDir = await mkdtemp(join(tmpdir(), 'tollgate-stack-'))
  const [postgres, clickhouse] = await Promise.all([
    startTestDatabase(migrationsFolder),
    startTestUsageStore(),
  ])
  const logger = createLogger('test', options.logLevel ?? 'error')
  const environment = {
    TOLLGATE_DATA_DIR: dataDir,
    TOLLGATE_PORT: '0',
    TOLLGATE_DATABASE_URL: postgres.url,
    TOLLGATE_CLICKHOUSE_URL: clickhouse.connection.url,
    TOLLGATE_CLICKHOUSE_USERNAME: clickhouse.connection.username,
    TOLLGATE_CLICKHOUSE_PASSWORD: clickhouse.connection.password,
    // Tests wait for what these intervals delay.
    TOLLGATE_SINK_DELAY_MS: '20',
    TOLLGATE_REPAIR_REQUESTS_INTERVAL_MS: '50',
    ...options.settings,
  }
  const shared = readSettings(sharedSettings, environment)
  const { log: eventLog, schemaId } = await openEventLogForWriting(shared, {
    topics: environments.map(usageTopic),
    values: meterEventValues,
    logger,
  })
  const hotState = options.hotState ?? (await openHotState(shared, 'projection', logger))
  const { database } = postgres
  const parts = { clock, logger, eventLog, hotState }
  let aggregator: Service | undefined
  const startProjections = async (): Promise<void> => {
    aggregator = createAggregator(readAggregatorConfig(environment), parts)
    await aggregator.start()
  }
  const stopProjections = async (): Promise<void> => {
    await aggregator?.stop()
    aggregator = undefined
  }
  // The control plane appends the records of corrections through ingest.
  const ingestPort = options.settings?.['TOLLGATE_PORT'] ?? String(await freePort())
  const ingestUrl = { TOLLGATE_INGEST_URL: `http://127.0.0.1:${ingestPort}` }
  const controlPlane = createControlPlane(
    readControlPlaneConfig({ ...environment, ...ingestUrl }),
    {
      ...parts,
      database,
      ...(options.processors === undefined ? {} : { processors: options.processors }),
    },
  )
  await startProjections()
  await controlPlane.start()
  const controlPlaneUrl = `http://127.0.0.1:${controlPlane.port}`
  const ingest = createIngest(
    readIngestConfig({
      ...environment,
      TOLLGATE_PORT: ingestPort,
      TOLLGATE_CONTROL_PLANE_URL: controlPlaneUrl,
    }),
    { ...parts, schemaId, hotState: options.ingestHotState ?? hotState },
  )
  await ingest.start()
  const jobs: Service[] = options.hasBillingRunner
    ? [createBillingRunner(readBillingRunnerConfig(environment), { ...parts, database })]
    : []
  if (options.hasWebhookDispatcher) {
    const dispatcherConfig = readWebhookDispatcherConfig(environment)
    jobs.push(createWebhookDispatcher(dispatcherConfig, { clock, logger, database }))
  }
  for (const service of jobs) await service.start()
  const baseUrl = `http://127.0.0.1:${ingest.port}`

  const clients: TollgateClient[] = []
  const clientWithKey = (key: string): TollgateClient => {
    const client = createTollgateClient({ baseUrl, key, connectionsMax: 64, timeoutMs: 15_000 })
    clients.push(client)
    return client
  }
  return {
    baseUrl,
    environment: { ...environment, TOLLGATE_CONTROL_PLANE_URL: controlPlaneUrl },
    database,
    eventLog,
    hotState,
    usageStore: clickhouse.store,
    controlPlaneAdminUrl: `http://127.0.0.1:${controlPlane.adminPort}`,
    startProjections,
    stopProjections,
    clientWithKey,
    async createProvider() {
      const now = new Date(clock.now())
      const fields = {
        name: 'Test',
        email: null,
        defaultCurrency: 'USD',
        cycleMode: 'calendar',
      } as const
      const { providerId } = await createProvider(database, hotState, jobActor('test'), fields, now)
      const keyOf = async (environment: Environment): Promise<string> => {
        const key = { providerId, environment, name: null, expiresAt: null }
        return (await issueApiKey(database, hotState, jobActor('test'), key, now)).secretKey
      }
      const keys = { sandbox: await keyOf('sandbox'), live: await keyOf('live') }
      const live = clientWithKey(keys.live)
      return { providerId, sandbox: clientWithKey(keys.sandbox), live, keys }
    },
    async stop() {
      for (const client of clients) client.close()
      const services: Service[] = [...jobs, ingest, controlPlane]
      for (const service of services) await service.stop()
      await stopProjections()
      await eventLog.close()
      if (options.hotState === undefined) await hotState.close()
      await postgres.stop()
      await clickhouse.stop()
      await rm(dataDir, { recursive: true, force: true })
    },
  }
}
