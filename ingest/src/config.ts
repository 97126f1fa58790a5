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
import { hungAfterSecondsSetting } from '@tollgate/platform/processes/hung-after-seconds'
import { busSettings } from './bus/bus-settings.ts'
import { trustedProxiesSetting } from '@tollgate/platform/service/trusted-proxies'
import { operatorSettings } from '@tollgate/platform/service/operator-settings'
import { parseAcceptedBinary } from './http/uws-binary.ts'

const port = { min: 0, max: 65_535 }
const milliseconds = { min: 1, max: 3_600_000 }
const bytes = { min: 1_024, max: 4_294_967_296 }
const count = { min: 1, max: 100_000_000 }

/** All settings of ingest, with safe defaults for every limit. */
export const ingestSettings = {
  host: textSetting('TOLLGATE_HOST', 'Address that the service listens on', '127.0.0.1'),
  port: integerSetting(
    'TOLLGATE_PORT',
    'Port that the service listens on; 0 takes any free port',
    8787,
    port,
  ),
  front: choiceSetting(
    'TOLLGATE_HTTP_FRONT',
    'Implementation of the HTTP listener: auto uses uws where it loads and node otherwise; only node reads chunked bodies, uws answers them with 411',
    ['auto', 'uws', 'node'],
    'auto',
  ),
  uwsBinary: {
    variable: 'TOLLGATE_UWS_BINARY',
    description:
      'Which uWebSockets.js binary may be loaded: pinned is the one that npm installs, a SHA-256 digest is that of an ' +
      'upstream release that you installed, any accepts every binary',
    defaultText: 'pinned',
    parse: parseAcceptedBinary,
  },
  workers: integerSetting(
    'TOLLGATE_INGEST_WORKERS',
    'Number of processes that serve the port, about one per core. More than 1 needs the engines and Linux. Each process has the other limits of this list, of memory too, to itself',
    1,
    { min: 1, max: 64 },
  ),
  hungAfterSeconds: hungAfterSecondsSetting,
  dataDir: dataDirSetting,
  ...serviceSecretSettings,
  ...eventLogSettings,
  ...eventLogWriterSettings,
  ...hotStateSettings,
  logRetentionDays: integerSetting(
    'TOLLGATE_LOG_RETENTION_DAYS',
    'Days that the log keeps records which both projections have applied',
    35,
    { min: 1, max: 3_650 },
  ),
  logTrimIntervalMs: integerSetting(
    'TOLLGATE_LOG_TRIM_INTERVAL_MS',
    'Milliseconds between two rounds that delete expired records from the log',
    60_000,
    milliseconds,
  ),
  logScrubKibibytesPerSecond: integerSetting(
    'TOLLGATE_LOG_SCRUB_KIBIBYTES_PER_SECOND',
    'Kibibytes per second of old segments of the embedded log that are read to verify their checksums; 0 verifies none',
    2_048,
    { min: 0, max: 1_048_576 },
  ),
  logScrubIntervalHours: integerSetting(
    'TOLLGATE_LOG_SCRUB_INTERVAL_HOURS',
    'Hours between the end of one verification of all old segments and the start of the next',
    24,
    { min: 1, max: 8_760 },
  ),
  controlPlaneUrl: textSetting('TOLLGATE_CONTROL_PLANE_URL', 'Base URL of the control plane'),
  proxyConnectionsMax: integerSetting(
    'TOLLGATE_PROXY_CONNECTIONS_MAX',
    'Maximum number of connections to the control plane',
    64,
    { min: 1, max: 10_000 },
  ),
  proxyRequestsMax: integerSetting(
    'TOLLGATE_PROXY_REQUESTS_MAX',
    'Maximum number of requests to the control plane at a time',
    2_000,
    count,
  ),
  proxyBytesMax: integerSetting(
    'TOLLGATE_PROXY_BYTES_MAX',
    'Maximum bytes of request bodies that are being sent to the control plane at a time',
    67_108_864,
    bytes,
  ),
  proxyHeadersTimeoutMs: integerSetting(
    'TOLLGATE_PROXY_HEADERS_TIMEOUT_MS',
    'Milliseconds that the control plane may take until its response begins',
    30_000,
    milliseconds,
  ),
  proxyBodyTimeoutMs: integerSetting(
    'TOLLGATE_PROXY_BODY_TIMEOUT_MS',
    'Milliseconds that the control plane may pause within a response',
    30_000,
    milliseconds,
  ),
  trustedProxies: trustedProxiesSetting,
  trustForwardedHeaders: {
    variable: 'TOLLGATE_TRUST_FORWARDED_HEADERS',
    description:
      'Replaced by TOLLGATE_TRUSTED_PROXIES. The value yes prevents the start, no has no effect',
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
    'Maximum bytes of one request body',
    1_048_576,
    bytes,
  ),
  discardedBodyBytesMax: integerSetting(
    'TOLLGATE_DISCARDED_BODY_BYTES_MAX',
    'Bytes of a refused body that are read and discarded before the connection is closed',
    16_777_216,
    bytes,
  ),
  collectedBodyBytesMax: integerSetting(
    'TOLLGATE_COLLECTED_BODY_BYTES_MAX',
    'Maximum bytes of unfinished request bodies over all connections',
    134_217_728,
    bytes,
  ),
  appendsInFlightMax: integerSetting(
    'TOLLGATE_APPENDS_IN_FLIGHT_MAX',
    'Maximum number of records that are being appended to the log at a time',
    100_000,
    count,
  ),
  appendBytesInFlightMax: integerSetting(
    'TOLLGATE_APPEND_BYTES_IN_FLIGHT_MAX',
    'Maximum bytes that are being appended to the log at a time',
    50_331_648,
    bytes,
  ),
  limitChecksMax: integerSetting(
    'TOLLGATE_LIMIT_CHECKS_MAX',
    'Maximum number of limit checks at a time',
    10_000,
    count,
  ),
  limitFallbacksMax: integerSetting(
    'TOLLGATE_LIMIT_FALLBACKS_MAX',
    'Maximum number of limit checks at a time that the control plane answers because the counters cannot be read or lag too far behind',
    256,
    count,
  ),
  limitsWaitMs: integerSetting(
    'TOLLGATE_LIMITS_WAIT_MS',
    'Milliseconds that a limit check waits for counters that make progress; if they make none, it reads the newest records from the log instead',
    2_000,
    milliseconds,
  ),
  rechargeCallsMax: integerSetting(
    'TOLLGATE_RECHARGE_CALLS_MAX',
    'Maximum number of requests at a time that ask the control plane for automatic top-ups; one provider may use a quarter of them',
    32,
    { min: 4, max: 10_000 },
  ),
  rechargeWaitMs: integerSetting(
    'TOLLGATE_RECHARGE_WAIT_MS',
    'Milliseconds that the response to a usage request waits for the control plane to start an automatic top-up',
    250,
    milliseconds,
  ),
  rechargePauseSeconds: integerSetting(
    'TOLLGATE_RECHARGE_PAUSE_SECONDS',
    'Seconds without a top-up request for a wallet that cannot be charged or has a charge in progress, unless credits are granted meanwhile',
    60,
    { min: 1, max: 86_400 },
  ),
  ...tailSettings,
  ...reservationSettings,
  ...walletSettings,
  cacheFreshMs: integerSetting(
    'TOLLGATE_CACHE_FRESH_MS',
    'Milliseconds that keys and meters are used from memory; a revocation takes effect after at most this time',
    1_000,
    { min: 0, max: 5_000 },
  ),
  cacheStaleMs: integerSetting(
    'TOLLGATE_CACHE_STALE_MS',
    'Milliseconds that cached keys and meters stay in use while the hot state cannot be read',
    60_000,
    milliseconds,
  ),
  cachedKeysMax: integerSetting(
    'TOLLGATE_CACHED_KEYS_MAX',
    'Maximum number of API keys in memory',
    100_000,
    count,
  ),
  cachedRefusedKeysMax: integerSetting(
    'TOLLGATE_CACHED_REFUSED_KEYS_MAX',
    'Maximum number of refused API keys in memory',
    10_000,
    count,
  ),
  cachedProvidersMax: integerSetting(
    'TOLLGATE_CACHED_PROVIDERS_MAX',
    'Maximum number of providers whose meters are in memory',
    10_000,
    count,
  ),
  cachedEntitlementsMax: integerSetting(
    'TOLLGATE_CACHED_ENTITLEMENTS_MAX',
    'Maximum number of parsed entitlements in memory, about 3 kB each',
    10_000,
    count,
  ),
  recentKeysMax: integerSetting(
    'TOLLGATE_RECENT_KEYS_MAX',
    'Maximum number of idempotency keys in memory whose records the counters have not applied yet',
    500_000,
    count,
  ),
  followIntervalMs: integerSetting(
    'TOLLGATE_FOLLOW_INTERVAL_MS',
    'Milliseconds between two reads of the position of the counters projection',
    250,
    milliseconds,
  ),
  stuckAfterMs: integerSetting(
    'TOLLGATE_STUCK_AFTER_MS',
    'Milliseconds that the counters projection may make no progress while records wait, before readiness fails',
    30_000,
    milliseconds,
  ),
  ...busSettings,
  shutdownGraceMs: integerSetting(
    'TOLLGATE_SHUTDOWN_GRACE_MS',
    'Milliseconds that requests in flight may take to finish after a stop',
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
