import { customerAuthSettings } from './customer-auth/customer-auth-settings.ts'
import { emailSettings } from './emails/email-settings.ts'
import { correctionSettings } from './usage-corrections/correction-settings.ts'
import { requireCompleteUpstreams, upstreamSettings } from './upstream/upstream-settings.ts'
import {
  reservationLifetimeSettings,
  reservationSettings,
} from '@tollgate/domain/reservations/reservation-settings'
import { consoleSettings } from '@tollgate/domain/console/console-settings'
import { mcpUrlSettings } from '@tollgate/domain/mcp/mcp-url-settings'
import { tailSettings } from '@tollgate/domain/entitlements/tail-settings'
import { usageGraceSettings } from '@tollgate/domain/billing/usage-grace-settings'
import { creditExpirySettings, walletSettings } from '@tollgate/domain/wallet/wallet-settings'
import { dataDirSetting } from '@tollgate/platform/config/data-dir'
import {
  integerSetting,
  readSettings,
  textSetting,
  type SettingValues,
} from '@tollgate/platform/config/settings'
import {
  databaseOwnerSettings,
  databaseSettings,
} from '@tollgate/platform/database/postgres/database-settings'
import { eventLogSettings } from '@tollgate/platform/event-log/event-log-settings'
import { hotStateSettings } from '@tollgate/platform/hot-state/hot-state-settings'
import { outboundSettings } from '@tollgate/platform/outbound/outbound-settings'
import { stripeSettings } from '@tollgate/platform/payments/stripe/stripe-settings'
import { secretSettings } from '@tollgate/platform/secrets/open-secrets'
import { serviceSecretSettings } from '@tollgate/platform/service/service-secret'
import { taxServiceSettings } from '@tollgate/domain/tax-service/tax-service-settings'
import { taxRegisterSettings } from '@tollgate/platform/tax-register/tax-register-settings'
import { clickHouseSettings } from '@tollgate/platform/usage-store/clickhouse/clickhouse-settings'
import { operatorSettings } from '@tollgate/platform/service/operator-settings'
import { hostedUrlSetting } from '@tollgate/domain/sessions/hosted-url'

const milliseconds = { min: 1, max: 3_600_000 }
const port = { min: 0, max: 65_535 }

/** All settings of the control plane. The defaults of limits and intervals are safe. */
export const controlPlaneSettings = {
  ...databaseSettings,
  ...databaseOwnerSettings,
  dataDir: dataDirSetting,
  ...serviceSecretSettings,
  ...eventLogSettings,
  ...hotStateSettings,
  ...clickHouseSettings,
  clickhouseTimeoutMs: integerSetting(
    'TOLLGATE_USAGE_QUERY_TIMEOUT_MS',
    'Maximum duration of one usage query in ClickHouse, in milliseconds',
    15_000,
    milliseconds,
  ),
  host: textSetting('TOLLGATE_CONTROL_PLANE_HOST', 'Address on which the API listens', '127.0.0.1'),
  port: integerSetting(
    'TOLLGATE_CONTROL_PLANE_PORT',
    'Port of the API. 0 uses any free port',
    0,
    port,
  ),
  trustedProxies: textSetting(
    'TOLLGATE_TRUSTED_PROXIES',
    'Proxies whose X-Forwarded-For header is trusted: addresses, networks, or the names loopback, linklocal and uniquelocal, separated by commas',
    'loopback,linklocal,uniquelocal',
  ),
  ...operatorSettings,
  databaseConnectionsMax: integerSetting(
    'TOLLGATE_DATABASE_CONNECTIONS_MAX',
    'Maximum number of connections to each of the three PostgreSQL schemas. Requests and jobs have a pool of this size each',
    8,
    { min: 1, max: 500 },
  ),
  bodyBytesMax: integerSetting(
    'TOLLGATE_BODY_BYTES_MAX',
    'Maximum size of a request body, in bytes',
    1_048_576,
    {
      min: 1_024,
      max: 67_108_864,
    },
  ),
  requestTimeoutMs: integerSetting(
    'TOLLGATE_REQUEST_TIMEOUT_MS',
    'How long a client may take to send its request, in milliseconds',
    15_000,
    milliseconds,
  ),
  idleConnectionMs: integerSetting(
    'TOLLGATE_IDLE_CONNECTION_MS',
    'How long an idle connection stays open, in milliseconds. It must be longer than in the data plane',
    75_000,
    milliseconds,
  ),
  countersWaitMs: integerSetting(
    'TOLLGATE_COUNTERS_WAIT_MS',
    'How long a limit check waits until accepted usage is counted, in milliseconds',
    2_000,
    milliseconds,
  ),
  ...tailSettings,
  storedUsageChecksMax: integerSetting(
    'TOLLGATE_STORED_USAGE_CHECKS_MAX',
    'Maximum number of concurrent limit checks that read ClickHouse and the log, and separately of concurrent reads of wallet balances. Requests above it get 503',
    64,
    { min: 1, max: 10_000 },
  ),
  ...reservationSettings,
  ...reservationLifetimeSettings,
  ...walletSettings,
  ...creditExpirySettings,
  ...secretSettings,
  ...outboundSettings,
  ...taxRegisterSettings,
  ...taxServiceSettings,
  ...mcpUrlSettings,
  mcpDiscoveryTimeoutMs: integerSetting(
    'TOLLGATE_MCP_DISCOVERY_TIMEOUT_MS',
    'How long an MCP server may take to list all its tools, in milliseconds',
    10_000,
    milliseconds,
  ),
  mcpAnswerBytesMax: integerSetting(
    'TOLLGATE_MCP_ANSWER_BYTES_MAX',
    'Maximum size of one response of an MCP server that lists its tools, in bytes',
    4_194_304,
    { min: 1_024, max: 67_108_864 },
  ),
  ...consoleSettings,
  ...customerAuthSettings,
  ...upstreamSettings,
  ...emailSettings,
  hostedUrl: hostedUrlSetting,
  demoFile: textSetting(
    'TOLLGATE_DEMO_FILE',
    'File that `npm start` writes for the page at `/`: the demo provider with its sandbox key, which is shown only to browsers on the same machine. If empty, no key is shown',
    '',
  ),
  ...stripeSettings,
  paymentWaitMs: integerSetting(
    'TOLLGATE_PAYMENT_WAIT_MS',
    'How long a request waits for the outcome of a payment that the customer has confirmed, in milliseconds',
    10_000,
    { min: 0, max: 25_000 },
  ),
  discountCodesPerCustomerMax: integerSetting(
    'TOLLGATE_DISCOUNT_CODES_PER_CUSTOMER_MAX',
    'Maximum number of discount codes that one customer may enter on checkouts per hour',
    30,
    { min: 1, max: 10_000 },
  ),
  paymentsIntervalMs: integerSetting(
    'TOLLGATE_PAYMENTS_INTERVAL_MS',
    'How often events of the payment processor are processed, pending payments are reconciled, and wallets with a low balance are recharged, in milliseconds',
    1_000,
    milliseconds,
  ),
  processorPollSeconds: integerSetting(
    'TOLLGATE_PROCESSOR_POLL_SECONDS',
    "How often the payment processor's list of events is read, to find events without a webhook, in seconds",
    300,
    { min: 1, max: 86_400 },
  ),
  processorEventsKeptDays: integerSetting(
    'TOLLGATE_PROCESSOR_EVENTS_KEPT_DAYS',
    'How long events of the payment processor are stored, in days. Duplicates are dropped during that time',
    30,
    { min: 4, max: 3_660 },
  ),
  usageStoreWaitMs: integerSetting(
    'TOLLGATE_USAGE_STORE_WAIT_MS',
    'How long a usage query waits until accepted usage is stored, in milliseconds',
    3_000,
    milliseconds,
  ),
  ...usageGraceSettings,
  previewsMax: integerSetting(
    'TOLLGATE_PREVIEWS_MAX',
    'Maximum number of previews of invoices and dry runs of corrections that one process computes at the same time. More get 503',
    16,
    { min: 1, max: 1_000 },
  ),
  previewHoldersMax: integerSetting(
    'TOLLGATE_PREVIEW_HOLDERS_MAX',
    'Maximum number of customers on one page of the preview of a changed plan',
    25,
    { min: 1, max: 1_000 },
  ),
  publishIntervalMs: integerSetting(
    'TOLLGATE_PUBLISH_INTERVAL_MS',
    'How often pending publications are completed, in milliseconds',
    2_000,
    milliseconds,
  ),
  ...correctionSettings,
  ledgerIntervalMs: integerSetting(
    'TOLLGATE_LEDGER_INTERVAL_MS',
    'How often debits of wallets for usage are posted to the ledger, in milliseconds',
    1_000,
    milliseconds,
  ),
  usageEventsIntervalMs: integerSetting(
    'TOLLGATE_USAGE_EVENTS_INTERVAL_MS',
    'How often `usage.recorded` events are emitted for stored usage, in milliseconds',
    1_000,
    milliseconds,
  ),
  alertIntervalMs: integerSetting(
    'TOLLGATE_ALERT_INTERVAL_MS',
    'How often the usage of customers is compared with alerts and budgets, in milliseconds. An alert is sent, and a budget stops, about this time after the usage was stored',
    1_000,
    milliseconds,
  ),
  alertChecksMax: integerSetting(
    'TOLLGATE_ALERT_CHECKS_MAX',
    'Maximum number of customers whose usage one process compares with alerts at a time',
    8,
    { min: 1, max: 100 },
  ),
  creditExpiryIntervalMs: integerSetting(
    'TOLLGATE_CREDIT_EXPIRY_INTERVAL_MS',
    'How often due credits are expired, in milliseconds',
    1_000,
    milliseconds,
  ),
  eventsKeptDays: integerSetting(
    'TOLLGATE_EVENTS_KEPT_DAYS',
    'How long events are stored, in days. An event with a stored webhook delivery is stored as long as the delivery',
    90,
    { min: 30, max: 3_650 },
  ),
  eventRetentionIntervalMs: integerSetting(
    'TOLLGATE_EVENT_RETENTION_INTERVAL_MS',
    'How often events older than `TOLLGATE_EVENTS_KEPT_DAYS` are deleted, in milliseconds',
    600_000,
    milliseconds,
  ),
  answerErasureIntervalMs: integerSetting(
    'TOLLGATE_ANSWER_ERASURE_INTERVAL_MS',
    'How often responses of webhook receivers about erased customers are erased, in milliseconds',
    10_000,
    milliseconds,
  ),
  auditSealIntervalMs: integerSetting(
    'TOLLGATE_AUDIT_SEAL_INTERVAL_MS',
    'How often new entries of the audit log and the ledger are sealed, in milliseconds',
    5_000,
    milliseconds,
  ),
  portalOpenMinutes: integerSetting(
    'TOLLGATE_PORTAL_OPEN_MINUTES',
    'How long the customer portal stays open after its link was used, in minutes',
    30,
    { min: 1, max: 1_440 },
  ),
  openCheckoutsMax: integerSetting(
    'TOLLGATE_OPEN_CHECKOUTS_MAX',
    'Maximum number of open checkouts of one customer that were opened with keys, and of each portal session. More get 429',
    10,
    { min: 1, max: 10_000 },
  ),
  openPortalLinksMax: integerSetting(
    'TOLLGATE_OPEN_PORTAL_LINKS_MAX',
    'Maximum number of unused portal links of one customer. More get 429',
    50,
    { min: 1, max: 10_000 },
  ),
  purchasesMax: integerSetting(
    'TOLLGATE_PURCHASES_MAX',
    'Maximum number of purchases in one list. The newest ones are listed',
    1_000,
    { min: 1, max: 100_000 },
  ),
  webhookEndpointsMax: integerSetting(
    'TOLLGATE_WEBHOOK_ENDPOINTS_MAX',
    'Maximum number of webhook endpoints of one provider in one environment',
    50,
    { min: 1, max: 1_000 },
  ),
  webhookTestIntervalMs: integerSetting(
    'TOLLGATE_WEBHOOK_TEST_INTERVAL_MS',
    'Minimum time between two test events to one endpoint, in milliseconds',
    1_000,
    milliseconds,
  ),
  testClockDays: integerSetting(
    'TOLLGATE_TEST_CLOCK_DAYS',
    'Days after which a test clock is deleted with its customers',
    30,
    { min: 1, max: 365 },
  ),
  webhookReplayIntervalMs: integerSetting(
    'TOLLGATE_WEBHOOK_REPLAY_INTERVAL_MS',
    'How often a webhook replay queues a batch of deliveries, in milliseconds',
    1_000,
    milliseconds,
  ),
  webhookReplayBatchMax: integerSetting(
    'TOLLGATE_WEBHOOK_REPLAY_BATCH_MAX',
    'Maximum number of deliveries that a webhook replay queues in one batch',
    500,
    { min: 1, max: 20_000 },
  ),
  webhookReplayWaitingMax: integerSetting(
    'TOLLGATE_WEBHOOK_REPLAY_WAITING_MAX',
    'Maximum number of deliveries, including those of a replay, that may wait for their first attempt at one endpoint. Above it, the replay waits',
    1_000,
    { min: 1, max: 1_000_000 },
  ),
  usageExportsMax: integerSetting(
    'TOLLGATE_USAGE_EXPORTS_MAX',
    'Maximum number of usage files (CSV or Parquet) that this process sends at the same time. More get 503',
    4,
    { min: 1, max: 6 },
  ),
  usageExportsPerProviderMax: integerSetting(
    'TOLLGATE_USAGE_EXPORTS_PER_PROVIDER_MAX',
    'Maximum number of usage files of one provider that this process sends at the same time. More get 429',
    2,
    { min: 1, max: 6 },
  ),
  usageExportRowsMax: integerSetting(
    'TOLLGATE_USAGE_EXPORT_ROWS_MAX',
    'Maximum number of rows of one usage file',
    200_000,
    { min: 1, max: 10_000_000 },
  ),
  usageExportSecondsMax: integerSetting(
    'TOLLGATE_USAGE_EXPORT_SECONDS_MAX',
    'Maximum duration of sending one usage file, in seconds',
    300,
    { min: 1, max: 86_400 },
  ),
  usageExportStallSecondsMax: integerSetting(
    'TOLLGATE_USAGE_EXPORT_STALL_SECONDS_MAX',
    'Maximum time in which a client may read nothing of its usage file, in seconds. After it, the response ends incomplete',
    15,
    { min: 1, max: 86_400 },
  ),
  bucketsMax: integerSetting(
    'TOLLGATE_USAGE_BUCKETS_MAX',
    'Maximum number of buckets in one usage response',
    10_000,
    {
      min: 1,
      max: 100_000,
    },
  ),
}

export type ControlPlaneConfig = SettingValues<typeof controlPlaneSettings>

/** Throws a SettingsError that names each setting that is missing or malformed. */
export function readControlPlaneConfig(
  environment: Readonly<Record<string, string | undefined>>,
): ControlPlaneConfig {
  const config = readSettings(controlPlaneSettings, environment)
  requireCompleteUpstreams(config)
  return config
}
