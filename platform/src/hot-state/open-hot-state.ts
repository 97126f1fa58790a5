import { readFileSync } from 'node:fs'
import { embeddedFolder } from '../config/data-dir.ts'
import type { SettingValues } from '../config/settings.ts'
import type { Logger } from '../observability/logger.ts'
import type { HotState } from './hot-state.ts'
import type { hotStateSettings } from './hot-state-settings.ts'
import { openLmdbHotState, type LmdbHotStateOptions } from './lmdb/lmdb-hot-state.ts'
import type { RedisServers } from './redis/connect.ts'
import type { EntryCacheOptions } from './redis/entry-cache/with-entry-cache.ts'

export type HotStateConfig = SettingValues<typeof hotStateSettings> & { readonly dataDir: string }

/** Opens the configured hot state. Of the roles, Redis knows only the reader, which caches entries. */
export async function openHotState(
  config: HotStateConfig,
  role: LmdbHotStateOptions['role'],
  logger: Pick<Logger, 'warn' | 'info'>,
): Promise<HotState> {
  if (config.hotState === 'embedded') {
    return await openLmdbHotState({ folder: embeddedFolder(config.dataDir, 'hot'), role })
  }
  // Imported here, so that a start on the embedded hot state does not load the client of Redis.
  const { openRedisHotState } = await import('./redis/redis-hot-state.ts')
  return await openRedisHotState({
    servers: serversOf(config),
    tls: {
      ca: readIfGiven(config.redisCaFile),
      cert: readIfGiven(config.redisCertFile),
      key: readIfGiven(config.redisKeyFile),
    },
    keyPrefix: config.redisKeyPrefix,
    callTimeoutMs: config.redisCallTimeoutMs,
    callsInFlightMax: config.redisCallsMax,
    entryCache: role === 'reader' ? entryCacheOf(config) : undefined,
    onConnectionLost: (error) =>
      logger.warn({ err: error }, 'connection to Redis lost; reconnecting'),
    onConnectionBack: () => logger.info('connected to Redis again'),
  })
}

const charsPerMebibyte = 1024 * 1024

function entryCacheOf(config: HotStateConfig): EntryCacheOptions | undefined {
  if (config.entryCacheMebibytes === 0) return undefined
  return {
    charsMax: config.entryCacheMebibytes * charsPerMebibyte,
    leaseMs: config.entryCacheLeaseMs,
    replicasMin: config.redisReplicasToWriteMin,
  }
}

function serversOf({ redisUrl, redisClusterNodes }: HotStateConfig): RedisServers {
  const clusterNodes = redisClusterNodes.split(',').map((node) => node.trim())
  return clusterNodes[0] === '' ? { url: redisUrl } : { clusterNodes }
}

function readIfGiven(file: string): Buffer | undefined {
  return file === '' ? undefined : readFileSync(file)
}
