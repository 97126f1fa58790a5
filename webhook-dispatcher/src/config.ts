import { dataDirSetting } from '@tollgate/platform/config/data-dir'
import {
  integerSetting,
  readSettings,
  SettingsError,
  type Setting,
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

const retryDelaysSetting: Setting<readonly number[]> = {
  variable: 'TOLLGATE_WEBHOOK_RETRY_DELAYS_SECONDS',
  description:
    'Seconds after a failed attempt of a delivery until the next one, for each of them in turn, with commas between; after the last attempt it is given up, and its endpoint is disabled if nothing else succeeded there meanwhile',
  defaultText: '300,900,3600,21600,86400,172800,259200,259200,259200,259200,259200',
  parse: (text) => {
    const delays = text.split(',').map((each) => Number(each.trim() || NaN))
    const isDelay = (each: number): boolean =>
      Number.isInteger(each) && each >= 0 && each <= 2_592_000
    if (delays.length <= 30 && delays.every(isDelay)) return delays
    throw new Error('must be up to 30 whole numbers of seconds, each up to 2592000')
  },
}

/** Everything the webhook dispatcher can be told. Limits and intervals are safe as they are. */
export const webhookDispatcherSettings = {
  ...databaseSettings,
  ...databaseOwnerSettings,
  dataDir: dataDirSetting,
  ...secretSettings,
  ...outboundSettings,
  ...operatorSettings,
  databaseConnectionsMax: integerSetting(
    'TOLLGATE_DATABASE_CONNECTIONS_MAX',
    'Connections to each of the two environments of PostgreSQL; one more listens',
    4,
    { min: 2, max: 500 },
  ),
  pollMs: integerSetting(
    'TOLLGATE_WEBHOOK_POLL_MS',
    'Milliseconds after which it is looked for deliveries that are due, even if nothing told of any',
    30_000,
    { min: 10, max: 30_000 },
  ),
  claimDeliveriesMax: integerSetting(
    'TOLLGATE_WEBHOOK_CLAIM_DELIVERIES_MAX',
    'Deliveries that are claimed at a time; claims follow each other until nothing is due',
    20,
    { min: 1, max: 20 },
  ),
  inFlightMax: integerSetting(
    'TOLLGATE_WEBHOOK_IN_FLIGHT_MAX',
    'Deliveries that one process sends at a time, in each environment',
    256,
    { min: 1, max: 10_000 },
  ),
  firstAttemptsReserved: integerSetting(
    'TOLLGATE_WEBHOOK_FIRST_ATTEMPTS_RESERVED',
    'How many of those retries never take',
    128,
    { min: 0, max: 9_999 },
  ),
  perEndpointMax: integerSetting(
    'TOLLGATE_WEBHOOK_IN_FLIGHT_PER_ENDPOINT_MAX',
    'Deliveries that one process sends to one endpoint at a time; to one that did not answer in time, it sends one until it does',
    4,
    { min: 1, max: 1_000 },
  ),
  leaseMs: integerSetting(
    'TOLLGATE_WEBHOOK_LEASE_MS',
    'Milliseconds after which another process sends what one has claimed and has told nothing of; more than twice what a request may take',
    60_000,
    milliseconds,
  ),
  retryDelaysSeconds: retryDelaysSetting,
  retryJitterPercent: integerSetting(
    'TOLLGATE_WEBHOOK_RETRY_JITTER_PERCENT',
    'Percent of such a delay that are added to it at most, and never more than a quarter of an hour, so that what failed together is not tried together',
    10,
    { min: 0, max: 10 },
  ),
  retryPauseMs: integerSetting(
    'TOLLGATE_WEBHOOK_DATABASE_RETRY_MS',
    'Milliseconds until PostgreSQL is asked again after it could not be',
    1_000,
    milliseconds,
  ),
  deliveriesKeptDays: integerSetting(
    'TOLLGATE_WEBHOOK_DELIVERIES_KEPT_DAYS',
    'Days that deliveries and their attempts are kept, also those that are held because their endpoint is disabled',
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
  // Signatures that are refused are turned round, and sent at once again.
  if (leaseMs > 2 * outboundTimeoutMs) return config
  throw new SettingsError(
    `${webhookDispatcherSettings.leaseMs.variable}=${leaseMs}: must be more than twice ` +
      `${webhookDispatcherSettings.outboundTimeoutMs.variable}=${outboundTimeoutMs}, or what is being sent is sent again`,
  )
}
