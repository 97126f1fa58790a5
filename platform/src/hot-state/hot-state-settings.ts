import { choiceSetting, integerSetting, textSetting } from '../config/settings.ts'

/** Settings for access to hot state. */
export const hotStateSettings = {
  hotState: choiceSetting(
    'TOLLGATE_HOT_STATE',
    'Where hot state is stored: embedded uses a folder in the data folder',
    ['embedded', 'redis'],
    'embedded',
  ),
  redisUrl: textSetting(
    'TOLLGATE_REDIS_URL',
    'URL of the Redis server: redis://, or rediss:// with TLS, as rediss://user:password@host:port',
    'redis://127.0.0.1:6379',
  ),
  redisClusterNodes: textSetting(
    'TOLLGATE_REDIS_CLUSTER_NODES',
    'Nodes of a Redis Cluster, used instead of the URL, as host:port or URLs separated by commas. User, password and TLS of the first node apply to all',
    '',
  ),
  redisCaFile: textSetting(
    'TOLLGATE_REDIS_CA_FILE',
    'PEM file of the certificate authority of Redis; if empty, the public authorities are trusted',
    '',
  ),
  redisCertFile: textSetting(
    'TOLLGATE_REDIS_CERT_FILE',
    'PEM file of the client certificate, if Redis requires one',
    '',
  ),
  redisKeyFile: textSetting(
    'TOLLGATE_REDIS_KEY_FILE',
    'PEM file of the key of the client certificate',
    '',
  ),
  redisKeyPrefix: textSetting(
    'TOLLGATE_REDIS_KEY_PREFIX',
    'Prefix of all key names in Redis',
    'tollgate',
  ),
  redisCallTimeoutMs: integerSetting(
    'TOLLGATE_REDIS_CALL_TIMEOUT_MS',
    'Timeout of a call to Redis, in milliseconds',
    2_000,
    { min: 10, max: 600_000 },
  ),
  redisCallsMax: integerSetting(
    'TOLLGATE_REDIS_CALLS_MAX',
    'Maximum concurrent calls to Redis; further calls fail at once',
    20_000,
    { min: 1, max: 10_000_000 },
  ),
  redisReplicasToWriteMin: integerSetting(
    'TOLLGATE_REDIS_REPLICAS_TO_WRITE_MIN',
    'Required min-replicas-to-write of Redis servers that have replicas. A smaller value of the server makes health degraded; 0 turns the check off',
    1,
    { min: 0, max: 100 },
  ),
  entryCacheMebibytes: integerSetting(
    'TOLLGATE_ENTRY_CACHE_MEBIBYTES',
    'Memory of ingest for entitlements read from Redis, per environment, in MiB; 0 reads them for every usage record',
    64,
    { min: 0, max: 65_536 },
  ),
  entryCacheLeaseMs: integerSetting(
    'TOLLGATE_ENTRY_CACHE_LEASE_MS',
    'How long ingest uses cached entitlements without hearing from Redis, in milliseconds. Changes wait that long for an ingest process that was killed',
    2_000,
    { min: 200, max: 10_000 },
  ),
}
