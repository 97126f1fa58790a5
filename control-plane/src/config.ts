import { customerAuthSettings } from './customer-auth/customer-auth-settings.ts'
import {
  requireWholeUpstreams,
  upstreamSettings,
} from './customer-auth/upstream/upstream-settings.ts'
import { reservationSettings } from '@tollgate/domain/reservations/reservation-settings'
import { consoleSettings } from '@tollgate/domain/console/console-settings'
import { mcpUrlSettings } from '@tollgate/domain/mcp/mcp-url-settings'
import { tailSettings } from '@tollgate/domain/entitlements/tail-settings'
import { walletSettings } from '@tollgate/domain/wallet/wallet-settings'
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
    'Milliseconds ClickHouse may take for one usage query',
    15_000,
    milliseconds,
  ),
  host: textSetting('TOLLGATE_CONTROL_PLANE_HOST', 'Address the API listens on', '127.0.0.1'),
  port: integerSetting(
    'TOLLGATE_CONTROL_PLANE_PORT',
    'Port of the API; 0 takes any free one',
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
    'Connections to each of the three schemas of PostgreSQL, for requests and for jobs each',
    8,
    { min: 1, max: 500 },
  ),
  bodyBytesMax: integerSetting('TOLLGATE_BODY_BYTES_MAX', 'Bytes of a request body', 1_048_576, {
    min: 1_024,
    max: 67_108_864,
  }),
  requestTimeoutMs: integerSetting(
    'TOLLGATE_REQUEST_TIMEOUT_MS',
    'Milliseconds a client may take to send its request',
    15_000,
    milliseconds,
  ),
  idleConnectionMs: integerSetting(
    'TOLLGATE_IDLE_CONNECTION_MS',
    'Milliseconds an idle connection is kept; longer than the data plane keeps one',
    75_000,
    milliseconds,
  ),
  countersWaitMs: integerSetting(
    'TOLLGATE_COUNTERS_WAIT_MS',
    'Milliseconds a limit check waits for usage that was just accepted to be counted',
    2_000,
    milliseconds,
  ),
  ...tailSettings,
  storedUsageChecksMax: integerSetting(
    'TOLLGATE_STORED_USAGE_CHECKS_MAX',
    'Limit checks, and balances of wallets, at a time that are answered from ClickHouse and the log; one more of either is answered 503',
    64,
    { min: 1, max: 10_000 },
  ),
  ...reservationSettings,
  ...walletSettings,
  ...secretSettings,
  ...outboundSettings,
  ...mcpUrlSettings,
  mcpDiscoveryTimeoutMs: integerSetting(
    'TOLLGATE_MCP_DISCOVERY_TIMEOUT_MS',
    'Milliseconds that an MCP server may take to tell all its tools',
    10_000,
    milliseconds,
  ),
  mcpAnswerBytesMax: integerSetting(
    'TOLLGATE_MCP_ANSWER_BYTES_MAX',
    'Bytes of one answer of an MCP server that is asked for its tools',
    4_194_304,
    { min: 1_024, max: 67_108_864 },
  ),
  ...consoleSettings,
  ...customerAuthSettings,
  ...upstreamSettings,
  hostedUrl: hostedUrlSetting,
  demoFile: textSetting(
    'TOLLGATE_DEMO_FILE',
    'File that `npm start` writes for the page at `/`: the demo provider with its sandbox key, which browsers of the same machine are shown; empty shows no key to anyone',
    '',
  ),
  ...stripeSettings,
  paymentWaitMs: integerSetting(
    'TOLLGATE_PAYMENT_WAIT_MS',
    'Milliseconds a payment is waited for that the customer has confirmed',
    10_000,
    { min: 0, max: 25_000 },
  ),
  paymentsIntervalMs: integerSetting(
    'TOLLGATE_PAYMENTS_INTERVAL_MS',
    'Milliseconds between two looks at what the payment processor has told, at payments that are due to be looked at, and at wallets that have run low',
    1_000,
    milliseconds,
  ),
  processorPollSeconds: integerSetting(
    'TOLLGATE_PROCESSOR_POLL_SECONDS',
    "Seconds between two readings of the payment processor's own list of what happened, for what no webhook told of",
    300,
    { min: 1, max: 86_400 },
  ),
  processorEventsKeptDays: integerSetting(
    'TOLLGATE_PROCESSOR_EVENTS_KEPT_DAYS',
    'Days that an event of the payment processor is remembered, so that one told again is dropped',
    30,
    { min: 4, max: 3_660 },
  ),
  usageStoreWaitMs: integerSetting(
    'TOLLGATE_USAGE_STORE_WAIT_MS',
    'Milliseconds a usage query waits for usage that was just accepted to be stored',
    3_000,
    milliseconds,
  ),
  publishIntervalMs: integerSetting(
    'TOLLGATE_PUBLISH_INTERVAL_MS',
    'Milliseconds between two looks for publications that were left undone',
    2_000,
    milliseconds,
  ),
  ledgerIntervalMs: integerSetting(
    'TOLLGATE_LEDGER_INTERVAL_MS',
    'Milliseconds between two postings of what wallets paid for usage',
    1_000,
    milliseconds,
  ),
  usageEventsIntervalMs: integerSetting(
    'TOLLGATE_USAGE_EVENTS_INTERVAL_MS',
    'Milliseconds between two looks for stored usage that endpoints are to be told of',
    1_000,
    milliseconds,
  ),
  creditExpiryIntervalMs: integerSetting(
    'TOLLGATE_CREDIT_EXPIRY_INTERVAL_MS',
    'Milliseconds between two looks for credits that have expired',
    1_000,
    milliseconds,
  ),
  eventsKeptDays: integerSetting(
    'TOLLGATE_EVENTS_KEPT_DAYS',
    'Days that events are kept; one that a webhook delivery is kept of stays as long as that',
    90,
    { min: 30, max: 3_650 },
  ),
  eventRetentionIntervalMs: integerSetting(
    'TOLLGATE_EVENT_RETENTION_INTERVAL_MS',
    'Milliseconds between two looks for events that are older',
    600_000,
    milliseconds,
  ),
  answerErasureIntervalMs: integerSetting(
    'TOLLGATE_ANSWER_ERASURE_INTERVAL_MS',
    'Milliseconds between two looks for what receivers of webhooks have answered about customers who were erased',
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
    'Minutes that the customer portal stays open after its link was used',
    30,
    { min: 1, max: 1_440 },
  ),
  openCheckoutsMax: integerSetting(
    'TOLLGATE_OPEN_CHECKOUTS_MAX',
    'Open checkouts of one customer that keys have issued, and the same number for each portal session; one more is answered 429',
    10,
    { min: 1, max: 10_000 },
  ),
  openPortalLinksMax: integerSetting(
    'TOLLGATE_OPEN_PORTAL_LINKS_MAX',
    'Unused portal links of one customer; one more is answered 429',
    50,
    { min: 1, max: 10_000 },
  ),
  purchasesMax: integerSetting(
    'TOLLGATE_PURCHASES_MAX',
    'Purchases in one list, the newest ones',
    1_000,
    { min: 1, max: 100_000 },
  ),
  webhookEndpointsMax: integerSetting(
    'TOLLGATE_WEBHOOK_ENDPOINTS_MAX',
    'Webhook endpoints of one provider in one environment',
    50,
    { min: 1, max: 1_000 },
  ),
  webhookTestIntervalMs: integerSetting(
    'TOLLGATE_WEBHOOK_TEST_INTERVAL_MS',
    'Milliseconds between two test events to one endpoint',
    1_000,
    milliseconds,
  ),
  webhookReplayIntervalMs: integerSetting(
    'TOLLGATE_WEBHOOK_REPLAY_INTERVAL_MS',
    'Milliseconds between two batches of deliveries that a replay of webhooks queues',
    1_000,
    milliseconds,
  ),
  webhookReplayBatchMax: integerSetting(
    'TOLLGATE_WEBHOOK_REPLAY_BATCH_MAX',
    'Deliveries in one such batch',
    500,
    { min: 1, max: 20_000 },
  ),
  webhookReplayWaitingMax: integerSetting(
    'TOLLGATE_WEBHOOK_REPLAY_WAITING_MAX',
    'Deliveries that may wait for their first attempt at one endpoint with those of a replay; beyond them, the replay waits',
    1_000,
    { min: 1, max: 1_000_000 },
  ),
  bucketsMax: integerSetting('TOLLGATE_USAGE_BUCKETS_MAX', 'Buckets in one usage answer', 10_000, {
    min: 1,
    max: 100_000,
  }),
}

export type ControlPlaneConfig = SettingValues<typeof controlPlaneSettings>

/** Throws a SettingsError that names each setting that is missing or malformed. */
export function readControlPlaneConfig(
  environment: Readonly<Record<string, string | undefined>>,
): ControlPlaneConfig {
  const config = readSettings(controlPlaneSettings, environment)
  requireWholeUpstreams(config)
  return config
}
