import { readFileSync } from 'node:fs'
import { embeddedFolder } from '../config/data-dir.ts'
import type { SettingValues } from '../config/settings.ts'
import type { Logger } from '../observability/logger.ts'
import type { HotState } from './hot-state.ts'
import type { hotStateSettings } from './hot-state-settings.ts'
import { openLmdbHotState, type LmdbHotStateOptions } from './lmdb/lmdb-hot-state.ts'
import type { RedisServers } from './redis/connect.ts'
import { openRedisHotState } from './redis/redis-hot-state.ts'

export type HotStateConfig = SettingValues<typeof hotStateSettings> & { readonly dataDir: string }

/** Opens the configured hot state. The role matters only for the embedded one; Redis has no roles. */
export async function openHotState(
  config: HotStateConfig,
  role: LmdbHotStateOptions['role'],
  logger: Pick<Logger, 'warn' | 'info'>,
): Promise<HotState> {
  if (config.hotState === 'embedded') {
    return await openLmdbHotState({ folder: embeddedFolder(config.dataDir, 'hot'), role })
  }
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
    onConnectionLost: (error) =>
      logger.warn({ err: error }, 'connection to Redis lost; reconnecting'),
    onConnectionBack: () => logger.info('connected to Redis again'),
  })
}

function serversOf({ redisUrl, redisClusterNodes }: HotStateConfig): RedisServers {
  const clusterNodes = redisClusterNodes.split(',').map((node) => node.trim())
  return clusterNodes[0] === '' ? { url: redisUrl } : { clusterNodes }
}

function readIfGiven(file: string): Buffer | undefined {
  return file === '' ? undefined : readFileSync(file)
}
