import { Passwords } from '@tollgate/domain/console/passwords'
import { createTailParts } from '@tollgate/domain/entitlements/tail-parts'
import { tailSettings } from '@tollgate/domain/entitlements/tail-settings'
import { readSettings } from '@tollgate/platform/config/settings'
import type { Database } from '@tollgate/platform/database/database'
import { createPostgresDatabase } from '@tollgate/platform/database/postgres/postgres-database'
import { createLogger } from '@tollgate/platform/observability/logger'
import type { Registry } from '@tollgate/platform/observability/metrics'
import { parseAllowList } from '@tollgate/platform/outbound/allow-list'
import { GuardedHttp } from '@tollgate/platform/outbound/guarded-http'
import { SecretBox } from '@tollgate/platform/secrets/secret-box'
import { createClickHouseUsageStore } from '@tollgate/platform/usage-store/clickhouse/clickhouse-usage-store'
import type { UsageStore } from '@tollgate/platform/usage-store/usage-store'
import { customerAuthSettings } from '../src/customer-auth/customer-auth-settings.ts'
import type { ApiServer } from '../src/access/api-server.ts'
import { RequestClock } from '../src/access/request-clock.ts'
import { buildApp } from '../src/http/app.ts'
import { PeriodUsage } from '../src/limits/period-usage.ts'
import {
  createPeriodUsageAnswers,
  createRequestSeconds,
  createUnknownNames,
} from '../src/metrics.ts'
import { Previews } from '../src/previews/previews.ts'
import { Wallets } from '../src/wallets/wallets.ts'
import type { TestStack } from './test-stack.ts'

type TestAppParts = {
  readonly database: Database
  readonly usageStore: UsageStore
  readonly metrics: Registry
}

/** Returns PostgreSQL and ClickHouse at addresses where no server listens. Connections are opened by the first query. */
export function unreachableStores(): Omit<TestAppParts, 'metrics'> {
  return {
    database: createPostgresDatabase({
      url: 'postgres://nobody@127.0.0.1:9/nothing',
      connectTimeoutSeconds: 1,
    }),
    usageStore: createClickHouseUsageStore({
      url: 'http://127.0.0.1:9',
      username: 'default',
      password: '',
      requestTimeoutMs: 500,
    }),
  }
}

/** Builds the API without the service around it, on other stores than those of the stack. */
export function buildTestApp(
  stack: TestStack,
  { database, usageStore, metrics }: TestAppParts,
): Promise<ApiServer> {
  const { hotState, eventLog } = stack
  const logger = createLogger('control-plane', 'silent')
  const tailParts = createTailParts({ log: eventLog, hotState }, readSettings(tailSettings, {}))
  const outbound = new GuardedHttp({
    allowed: parseAllowList(''),
    ports: [443],
    isPlainHttpAllowed: false,
    connectTimeoutMs: 1,
    timeoutMs: 1,
    answerBytesMax: 1,
    connectionsPerOriginMax: 1,
  })
  return buildApp(
    {
      database,
      usageStore,
      hotState,
      eventLog,
      ...tailParts,
      usage: new PeriodUsage({
        ...tailParts,
        usageStore,
        hotState,
        eventLog,
        logger,
        limits: { countersWaitMs: 1, tailRecordsMax: 1, storedUsageChecksMax: 1 },
        answers: createPeriodUsageAnswers(metrics),
      }),
      appendRecords: () => Promise.reject(new Error('this test appends no corrections')),
      correctionLimits: {
        pageRecords: 1,
        storedWaitMs: 1,
        previewRecordsMax: 1,
        waitMs: 1,
        triesMax: 1,
        retryAfterMs: 1,
      },
      previews: new Previews(
        { database, usageStore, eventLog, clock: stack.clock },
        { usageGraceMinutes: 1, usageStoreWaitMs: 1, previewsMax: 1, previewHoldersMax: 1 },
      ),
      wallets: new Wallets({
        database,
        usageStore,
        hotState,
        eventLog,
        logger,
        limits: {
          waitMs: 1,
          heldMs: 1_000,
          heldMax: 1,
          tailRecordsMax: 1,
          storedBalancesMax: 1,
        },
      }),
      folderSecret: undefined,
      serviceSecret: undefined,
      payments: {
        database,
        processors: { of: () => undefined },
        commit: () => Promise.reject(new Error('takes no payments')),
        now: () => new Date(),
        hostedUrl: '',
      },
      customerAuth: {
        config: readSettings(customerAuthSettings, {}),
        mailer: { isReady: false, hasInbox: false, send: () => Promise.resolve() },
        upstreams: { configured: new Map(), console: undefined, close: () => Promise.resolve() },
      },
      emailTransport: { kind: 'none' },
      openid: undefined,
      console: {
        database,
        passwords: new Passwords(10),
        limits: {
          signedInMs: 1,
          passwordLinkMs: 1,
          knownBrowserMs: 1,
          attempts: { windowMs: 1, perEmailMax: 1, perAddressMax: 1 },
        },
      },
      clock: stack.clock,
      requestClock: new RequestClock(stack.clock),
      logger,
      tracing: undefined,
      partitionCount: () => 1,
      publisher: { database, hotState, partitionCount: () => 1, now: () => new Date() },
      secrets: new SecretBox([{ id: 'test', bytes: Buffer.alloc(32, 1) }]),
      outbound: { of: () => outbound },
      mcpProxyUrls: { sandbox: '', live: '' },
      demoFile: '',
      hostedUrl: 'http://hosted.test',
      publishableKeys: { sandbox: '', live: '' },
      cardEntries: { sandbox: { kind: 'none' }, live: { kind: 'none' } },
      limits: {
        testClockDays: 1,
        countersWaitMs: 1,
        tailRecordsMax: 1,
        usageStoreWaitMs: 1,
        reservationSecondsMax: 1,
        reservationLifetimeSecondsMax: 1,
        creditsHeldMax: 1,
        reservationsMax: 1,
        purchasesMax: 1,
        paymentWaitMs: 1,
        discountCodesPerCustomerMax: 1,
        mcpDiscoveryTimeoutMs: 1_000,
        webhookEndpointsMax: 1,
        webhookTestIntervalMs: 1,
        bucketsMax: 1,
        usageExportsMax: 1,
        usageExportsPerProviderMax: 1,
        usageExportRowsMax: 1,
        usageExportSecondsMax: 1,
        usageExportStallSecondsMax: 1,
        openCheckoutsMax: 10,
        openPortalLinksMax: 50,
        portalOpenMs: 1,
      },
    },
    {
      bodyBytesMax: 1_000,
      requestTimeoutMs: 1_000,
      idleConnectionMs: 1_000,
      trustedProxies: 'loopback',
    },
    createRequestSeconds(metrics),
    createUnknownNames(metrics),
  )
}

/** Returns every route that the server knows, such as `GET /v1/sdk/products`. */
export function routesOf(app: ApiServer): string[] {
  const above: string[] = []
  return app
    .printRoutes({ commonPrefix: false })
    .split('\n')
    .flatMap((line) => {
      const found = /^(.*?)[├└]── (\S*) \((.*)\)$/.exec(line)
      if (found === null) return []
      const [, indent = '', part = '', methods = ''] = found
      above.length = indent.length / 4
      above.push(part)
      const path = above.join('')
      return methods
        .split(', ')
        .filter((method) => !['HEAD', 'OPTIONS'].includes(method))
        .map((method) => `${method} ${path}`)
    })
}

/** Returns the routes that may change data. */
export function changingRoutes(app: ApiServer): string[] {
  return routesOf(app).filter((route) => !route.startsWith('GET '))
}
