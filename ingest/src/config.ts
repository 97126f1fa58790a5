import { reservationSettings } from '@tollgate/domain/reservations/reservation-settings'
import { tailSettings } from '@tollgate/domain/entitlements/tail-settings'
import { walletSettings } from '@tollgate/domain/wallet/wallet-settings'
import { dataDirSetting } from '@tollgate/platform/config/data-dir'
import {
  choiceSetting,
  integerSetting,
  readSettings,
  textSetting,
  type SettingValues,
} from '@tollgate/platform/config/settings'
import {
  eventLogSettings,
  eventLogWriterSettings,
} from '@tollgate/platform/event-log/event-log-settings'
import { hotStateSettings } from '@tollgate/platform/hot-state/hot-state-settings'
import { serviceSecretSettings } from '@tollgate/platform/service/service-secret'
import { busSettings } from './bus/bus-settings.ts'
import { trustedProxiesSetting } from '@tollgate/platform/service/trusted-proxies'
import { operatorSettings } from '@tollgate/platform/service/operator-settings'
import { parseAcceptedBinary } from './http/uws-binary.ts'

const port = { min: 0, max: 65_535 }
const milliseconds = { min: 1, max: 3_600_000 }
const bytes = { min: 1_024, max: 4_294_967_296 }
const count = { min: 1, max: 100_000_000 }

/** Everything ingest can be told. Limits are safe as they are. */
export const ingestSettings = {
  host: textSetting('TOLLGATE_HOST', 'Address the service listens on', '127.0.0.1'),
  port: integerSetting('TOLLGATE_PORT', 'Its port; 0 takes any free one', 8787, port),
  front: choiceSetting(
    'TOLLGATE_HTTP_FRONT',
    'The listener: auto takes uws where it loads, else node; only node reads chunked bodies, uws answers them with 411',
    ['auto', 'uws', 'node'],
    'auto',
  ),
  uwsBinary: {
    variable: 'TOLLGATE_UWS_BINARY',
    description:
      'Which uWebSockets.js binary may be loaded: pinned is the one that npm installs, a SHA-256 the one of an ' +
      'upstream release that you installed, any whatever is there',
    defaultText: 'pinned',
    parse: parseAcceptedBinary,
  },
  dataDir: dataDirSetting,
  ...serviceSecretSettings,
  ...eventLogSettings,
  ...eventLogWriterSettings,
  ...hotStateSettings,
  logRetentionDays: integerSetting(
    'TOLLGATE_LOG_RETENTION_DAYS',
    'Days the log keeps records that both projections have passed',
    35,
    { min: 1, max: 3_650 },
  ),
  logTrimIntervalMs: integerSetting(
    'TOLLGATE_LOG_TRIM_INTERVAL_MS',
    'Milliseconds between two rounds of deleting what the log need not keep',
    60_000,
    milliseconds,
  ),
  logScrubKibibytesPerSecond: integerSetting(
    'TOLLGATE_LOG_SCRUB_KIBIBYTES_PER_SECOND',
    'Kibibytes of old segments of the embedded log that are read in a second to check their sums; 0 checks none',
    2_048,
    { min: 0, max: 1_048_576 },
  ),
  logScrubIntervalHours: integerSetting(
    'TOLLGATE_LOG_SCRUB_INTERVAL_HOURS',
    'Hours between the end of one check of all old segments and the next one',
    24,
    { min: 1, max: 8_760 },
  ),
  controlPlaneUrl: textSetting('TOLLGATE_CONTROL_PLANE_URL', 'Origin of the control plane'),
  proxyConnectionsMax: integerSetting(
    'TOLLGATE_PROXY_CONNECTIONS_MAX',
    'Connections to the control plane',
    64,
    { min: 1, max: 10_000 },
  ),
  proxyRequestsMax: integerSetting(
    'TOLLGATE_PROXY_REQUESTS_MAX',
    'Requests on their way to the control plane at a time',
    2_000,
    count,
  ),
  proxyBytesMax: integerSetting(
    'TOLLGATE_PROXY_BYTES_MAX',
    'Bytes of request bodies on their way to the control plane',
    67_108_864,
    bytes,
  ),
  proxyHeadersTimeoutMs: integerSetting(
    'TOLLGATE_PROXY_HEADERS_TIMEOUT_MS',
    'Milliseconds the control plane may take until it answers',
    30_000,
    milliseconds,
  ),
  proxyBodyTimeoutMs: integerSetting(
    'TOLLGATE_PROXY_BODY_TIMEOUT_MS',
    'Milliseconds the control plane may pause within an answer',
    30_000,
    milliseconds,
  ),
  trustedProxies: trustedProxiesSetting,
  trustForwardedHeaders: {
    variable: 'TOLLGATE_TRUST_FORWARDED_HEADERS',
    description: 'Replaced by TOLLGATE_TRUSTED_PROXIES: yes stops the start, no changes nothing',
    defaultText: 'no',
    parse: (text: string): 'no' => {
      if (text === 'no') return text
      throw new Error(
        'is replaced. Name the proxies in TOLLGATE_TRUSTED_PROXIES, for example 10.1.0.0/16',
      )
    },
  },
  bodyBytesMax: integerSetting(
    'TOLLGATE_BODY_BYTES_MAX',
    'Bytes of one request body',
    1_048_576,
    bytes,
  ),
  discardedBodyBytesMax: integerSetting(
    'TOLLGATE_DISCARDED_BODY_BYTES_MAX',
    'Bytes of a refused body that are read over before the connection is closed',
    16_777_216,
    bytes,
  ),
  collectedBodyBytesMax: integerSetting(
    'TOLLGATE_COLLECTED_BODY_BYTES_MAX',
    'Bytes of unfinished bodies over all connections',
    134_217_728,
    bytes,
  ),
  appendsInFlightMax: integerSetting(
    'TOLLGATE_APPENDS_IN_FLIGHT_MAX',
    'Records on their way to the log at a time',
    100_000,
    count,
  ),
  appendBytesInFlightMax: integerSetting(
    'TOLLGATE_APPEND_BYTES_IN_FLIGHT_MAX',
    'Bytes on their way to the log at a time',
    50_331_648,
    bytes,
  ),
  limitChecksMax: integerSetting(
    'TOLLGATE_LIMIT_CHECKS_MAX',
    'Limit checks at a time',
    10_000,
    count,
  ),
  limitFallbacksMax: integerSetting(
    'TOLLGATE_LIMIT_FALLBACKS_MAX',
    'Limit checks at a time that the control plane is asked for while the counters cannot be read or are too far behind',
    256,
    count,
  ),
  limitsWaitMs: integerSetting(
    'TOLLGATE_LIMITS_WAIT_MS',
    'Milliseconds a limit check waits at most for counters that move; it reads the log beyond counters that stand still',
    2_000,
    milliseconds,
  ),
  rechargeCallsMax: integerSetting(
    'TOLLGATE_RECHARGE_CALLS_MAX',
    'Calls at a time that ask the control plane for automatic top-ups; one provider has a quarter of them at most',
    32,
    { min: 4, max: 10_000 },
  ),
  rechargeWaitMs: integerSetting(
    'TOLLGATE_RECHARGE_WAIT_MS',
    'Milliseconds an answer to usage waits at most for whether an automatic top-up was begun',
    250,
    milliseconds,
  ),
  rechargePauseSeconds: integerSetting(
    'TOLLGATE_RECHARGE_PAUSE_SECONDS',
    'Seconds no top-up is asked for a wallet that cannot be charged or has a charge under way, unless something is put in',
    60,
    { min: 1, max: 86_400 },
  ),
  ...tailSettings,
  ...reservationSettings,
  ...walletSettings,
  cacheFreshMs: integerSetting(
    'TOLLGATE_CACHE_FRESH_MS',
    'Milliseconds keys and meters are taken from memory; bounds how late a revocation takes effect',
    1_000,
    { min: 0, max: 5_000 },
  ),
  cacheStaleMs: integerSetting(
    'TOLLGATE_CACHE_STALE_MS',
    'Milliseconds known keys and meters stay in use while the hot state cannot be read',
    60_000,
    milliseconds,
  ),
  cachedKeysMax: integerSetting('TOLLGATE_CACHED_KEYS_MAX', 'Keys in memory', 100_000, count),
  cachedRefusedKeysMax: integerSetting(
    'TOLLGATE_CACHED_REFUSED_KEYS_MAX',
    'Refused keys in memory',
    10_000,
    count,
  ),
  cachedProvidersMax: integerSetting(
    'TOLLGATE_CACHED_PROVIDERS_MAX',
    'Providers whose meters are in memory',
    10_000,
    count,
  ),
  cachedEntitlementsMax: integerSetting(
    'TOLLGATE_CACHED_ENTITLEMENTS_MAX',
    'Parsed entitlements in memory, about 3 kB each',
    10_000,
    count,
  ),
  recentKeysMax: integerSetting(
    'TOLLGATE_RECENT_KEYS_MAX',
    'Idempotency keys in memory whose records the counters have not reached yet',
    500_000,
    count,
  ),
  followIntervalMs: integerSetting(
    'TOLLGATE_FOLLOW_INTERVAL_MS',
    'Milliseconds between two looks at how far the counters are',
    250,
    milliseconds,
  ),
  stuckAfterMs: integerSetting(
    'TOLLGATE_STUCK_AFTER_MS',
    'Milliseconds the counters may stand still with records behind them before we are not ready',
    30_000,
    milliseconds,
  ),
  ...busSettings,
  shutdownGraceMs: integerSetting(
    'TOLLGATE_SHUTDOWN_GRACE_MS',
    'Milliseconds requests in flight are given at a stop',
    10_000,
    milliseconds,
  ),
  ...operatorSettings,
}

export type IngestConfig = SettingValues<typeof ingestSettings>

export function readIngestConfig(
  environment: Readonly<Record<string, string | undefined>>,
): IngestConfig {
  return readSettings(ingestSettings, environment)
}
