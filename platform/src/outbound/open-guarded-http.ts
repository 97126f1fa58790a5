import type { SettingValues } from '../config/settings.ts'
import type { Logger } from '../observability/logger.ts'
import { GuardedHttp } from './guarded-http.ts'
import type { outboundSettings } from './outbound-settings.ts'

/** Tells in the log what may be reached although it is not public, if anything. */
export function openGuardedHttp(
  config: SettingValues<typeof outboundSettings>,
  answerBytesMax: number,
  logger: Logger,
): GuardedHttp {
  const { outboundAllowed: allowed } = config
  if (allowed.text !== '') {
    logger.info({ allowed: allowed.text }, 'providers may point to what is not public')
  }
  return new GuardedHttp({
    allowed,
    ports: config.outboundPorts,
    connectTimeoutMs: config.outboundConnectTimeoutMs,
    timeoutMs: config.outboundTimeoutMs,
    connectionsPerOriginMax: config.outboundConnectionsPerOriginMax,
    answerBytesMax,
  })
}
