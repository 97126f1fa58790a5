import { reservationSettings } from '@tollgate/domain/entitlements/reservation-settings'
import { dataDirSetting } from '@tollgate/platform/config/data-dir'
import {
  choiceSetting,
  integerSetting,
  readSettings,
  textSetting,
  type SettingValues,
} from '@tollgate/platform/config/settings'
import { eventLogSettings } from '@tollgate/platform/event-log/event-log-settings'
import { hotStateSettings } from '@tollgate/platform/hot-state/hot-state-settings'
import { clickHouseSettings } from '@tollgate/platform/usage-store/clickhouse/clickhouse-settings'

const milliseconds = { min: 1, max: 3_600_000 }
const port = { min: 0, max: 65_535 }

/** Everything the control plane can be told. Limits and intervals are safe as they are. */
export const controlPlaneSettings = {
  databaseUrl: textSetting('TOLLGATE_DATABASE_URL', 'Address of PostgreSQL'),
  dataDir: dataDirSetting,
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
  adminHost: textSetting('TOLLGATE_ADMIN_HOST', 'Address of health and metrics', '127.0.0.1'),
  adminPort: integerSetting('TOLLGATE_ADMIN_PORT', 'Its port; 0 takes any free one', 0, port),
  logLevel: choiceSetting(
    'TOLLGATE_LOG_LEVEL',
    'Least severe level that is logged',
    ['trace', 'debug', 'info', 'warn', 'error'],
    'info',
  ),
  databaseConnectionsMax: integerSetting(
    'TOLLGATE_DATABASE_CONNECTIONS_MAX',
    'Connections to each of the three schemas of PostgreSQL',
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
  tailRecordsMax: integerSetting(
    'TOLLGATE_TAIL_RECORDS_MAX',
    'Records of the log that a limit check reads where neither counters nor ClickHouse have them; beyond them it answers 503',
    200_000,
    { min: 1, max: 100_000_000 },
  ),
  storedUsageChecksMax: integerSetting(
    'TOLLGATE_STORED_USAGE_CHECKS_MAX',
    'Limit checks at a time that are answered from ClickHouse and the log; one more is answered 503',
    64,
    { min: 1, max: 10_000 },
  ),
  ...reservationSettings,
  hostedUrl: textSetting(
    'TOLLGATE_HOSTED_URL',
    'Where customers reach checkout and portal: the public address of this installation',
    'http://127.0.0.1:8787',
  ),
  stripeSandboxPublishableKey: textSetting(
    'TOLLGATE_STRIPE_SANDBOX_PUBLISHABLE_KEY',
    'Publishable key of Stripe that browsers get for sandbox payments',
    '',
  ),
  stripeLivePublishableKey: textSetting(
    'TOLLGATE_STRIPE_LIVE_PUBLISHABLE_KEY',
    'The same for live payments',
    '',
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
  housekeepingIntervalMs: integerSetting(
    'TOLLGATE_HOUSEKEEPING_INTERVAL_MS',
    'Milliseconds between two looks for purchases whose end has passed and for old sessions',
    5_000,
    milliseconds,
  ),
  sessionsKeptHours: integerSetting(
    'TOLLGATE_SESSIONS_KEPT_HOURS',
    'Hours that a customer session can be looked up after it has expired',
    168,
    { min: 0, max: 87_600 },
  ),
  purchasesMax: integerSetting(
    'TOLLGATE_PURCHASES_MAX',
    'Purchases in one list, the newest ones',
    1_000,
    { min: 1, max: 100_000 },
  ),
  bucketsMax: integerSetting('TOLLGATE_USAGE_BUCKETS_MAX', 'Buckets in one usage answer', 10_000, {
    min: 1,
    max: 100_000,
  }),
}

export type ControlPlaneConfig = SettingValues<typeof controlPlaneSettings>

export function readControlPlaneConfig(
  environment: Readonly<Record<string, string | undefined>>,
): ControlPlaneConfig {
  return readSettings(controlPlaneSettings, environment)
}
