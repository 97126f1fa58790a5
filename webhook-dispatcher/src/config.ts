import { dataDirSetting } from '@tollgate/platform/config/data-dir'
import { delaysSetting } from '@tollgate/platform/config/delays-setting'
import {
  integerSetting,
  readSettings,
  SettingsError,
  type SettingValues,
} from '@tollgate/platform/config/settings'
import {
  databaseOwnerSettings,
  databaseSettings,
} from '@tollgate/platform/database/postgres/database-settings'
import { outboundSettings } from '@tollgate/platform/outbound/outbound-settings'
import { secretSettings } from '@tollgate/platform/secrets/open-secrets'
import { operatorSettings } from '@tollgate/platform/service/operator-settings'

const milliseconds = { min: 1, max: 3_600_000 }

const retryDelaysSetting = delaysSetting(
  'TOLLGATE_WEBHOOK_RETRY_DELAYS_SECONDS',
  'Delays between the attempts of a delivery, in seconds, separated by commas: the first is the time from the first failed attempt to the second. After the last attempt the delivery fails, and its endpoint is disabled if no other delivery to it succeeded since this one was first sent',
  '300,900,3600,21600,86400,172800,259200,259200,259200,259200,259200',
)

/** Settings of the webhook dispatcher. The defaults of limits and intervals are safe for production. */
export const webhookDispatcherSettings = {
  ...databaseSettings,
  ...databaseOwnerSettings,
  dataDir: dataDirSetting,
  ...secretSettings,
  ...outboundSettings,
  ...operatorSettings,
  databaseConnectionsMax: integerSetting(
    'TOLLGATE_DATABASE_CONNECTIONS_MAX',
    'Maximum connections to PostgreSQL per environment; one more connection listens for notifications',
    4,
    { min: 2, max: 500 },
  ),
  pollMs: integerSetting(
    'TOLLGATE_WEBHOOK_POLL_MS',
    'How often due deliveries are polled, in milliseconds, in addition to notifications from PostgreSQL',
    30_000,
    { min: 10, max: 30_000 },
  ),
  claimDeliveriesMax: integerSetting(
    'TOLLGATE_WEBHOOK_CLAIM_DELIVERIES_MAX',
    'Maximum deliveries that one claim takes; claims repeat until no delivery is due',
    20,
    { min: 1, max: 20 },
  ),
  inFlightMax: integerSetting(
    'TOLLGATE_WEBHOOK_IN_FLIGHT_MAX',
    'Maximum deliveries that one process sends concurrently, per environment',
    256,
    { min: 1, max: 10_000 },
  ),
  firstAttemptsReserved: integerSetting(
    'TOLLGATE_WEBHOOK_FIRST_ATTEMPTS_RESERVED',
    'How many of the concurrent deliveries are reserved for first attempts; retries never use them',
    128,
    { min: 0, max: 9_999 },
  ),
  perEndpointMax: integerSetting(
    'TOLLGATE_WEBHOOK_IN_FLIGHT_PER_ENDPOINT_MAX',
    'Maximum deliveries that one process sends concurrently to one endpoint; after a timeout the endpoint gets one at a time until it responds again',
    4,
    { min: 1, max: 1_000 },
  ),
  leaseMs: integerSetting(
    'TOLLGATE_WEBHOOK_LEASE_MS',
    'Lease of a claimed delivery, in milliseconds; another process may send the delivery when the lease has expired. Must be more than twice the request timeout',
    60_000,
    milliseconds,
  ),
  retryDelaysSeconds: retryDelaysSetting,
  retryJitterPercent: integerSetting(
    'TOLLGATE_WEBHOOK_RETRY_JITTER_PERCENT',
    'Maximum random addition to a retry delay, in percent of the delay and never more than 15 minutes, so that deliveries that failed together are not retried together',
    10,
    { min: 0, max: 10 },
  ),
  retryPauseMs: integerSetting(
    'TOLLGATE_WEBHOOK_DATABASE_RETRY_MS',
    'How long to wait before PostgreSQL is queried again after an error, in milliseconds',
    1_000,
    milliseconds,
  ),
  deliveriesKeptDays: integerSetting(
    'TOLLGATE_WEBHOOK_DELIVERIES_KEPT_DAYS',
    'Days for which deliveries and their attempts are kept, including deliveries that are held because their endpoint is disabled',
    45,
    { min: 30, max: 3_650 },
  ),
}

export type WebhookDispatcherConfig = SettingValues<typeof webhookDispatcherSettings>

export function readWebhookDispatcherConfig(
  environment: Readonly<Record<string, string | undefined>>,
): WebhookDispatcherConfig {
  const config = readSettings(webhookDispatcherSettings, environment)
  const { leaseMs, outboundTimeoutMs } = config
  // A delivery whose signature is refused is sent a second time at once, so one lease must cover two requests.
  if (leaseMs > 2 * outboundTimeoutMs) return config
  throw new SettingsError(
    `${webhookDispatcherSettings.leaseMs.variable}=${leaseMs}: must be more than twice ` +
      `${webhookDispatcherSettings.outboundTimeoutMs.variable}=${outboundTimeoutMs}, or a delivery that is still in flight is sent a second time`,
  )
}
