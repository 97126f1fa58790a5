import { choiceSetting, integerSetting, textSetting } from '../config/settings.ts'

/** How every service is told where hot state is kept. */
export const hotStateSettings = {
  hotState: choiceSetting(
    'TOLLGATE_HOT_STATE',
    'Where hot state is kept: embedded is a folder of the data folder',
    ['embedded', 'redis'],
    'embedded',
  ),
  redisUrl: textSetting(
    'TOLLGATE_REDIS_URL',
    'Redis server, as redis:// or, with TLS, rediss://user:password@host:port',
    'redis://127.0.0.1:6379',
  ),
  redisClusterNodes: textSetting(
    'TOLLGATE_REDIS_CLUSTER_NODES',
    'Some nodes of a Redis Cluster instead, as host:port or URLs, with commas between; what the first says of user, password and TLS holds for all',
    '',
  ),
  redisCaFile: textSetting(
    'TOLLGATE_REDIS_CA_FILE',
    'PEM file of the authority that signed the certificate of Redis; empty trusts the public ones',
    '',
  ),
  redisCertFile: textSetting(
    'TOLLGATE_REDIS_CERT_FILE',
    'PEM file of our own certificate, where Redis asks for one',
    '',
  ),
  redisKeyFile: textSetting('TOLLGATE_REDIS_KEY_FILE', 'PEM file of its key', ''),
  redisKeyPrefix: textSetting(
    'TOLLGATE_REDIS_KEY_PREFIX',
    'What the names of all keys in Redis begin with',
    'tollgate',
  ),
  redisCallTimeoutMs: integerSetting(
    'TOLLGATE_REDIS_CALL_TIMEOUT_MS',
    'Milliseconds after which a call to Redis has failed',
    2_000,
    { min: 10, max: 600_000 },
  ),
  redisCallsMax: integerSetting(
    'TOLLGATE_REDIS_CALLS_MAX',
    'Calls on their way to Redis at a time; one more fails at once',
    20_000,
    { min: 1, max: 10_000_000 },
  ),
  redisReplicasToWriteMin: integerSetting(
    'TOLLGATE_REDIS_REPLICAS_TO_WRITE_MIN',
    'Replicas that a Redis server which has any must wait for (its min-replicas-to-write). Less makes health say degraded; 0 does not ask',
    1,
    { min: 0, max: 100 },
  ),
}
