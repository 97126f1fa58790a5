import { environments, type Environment } from '@tollgate/schemas/environment'
import type { SettingValues } from '../config/settings.ts'
import type { Logger } from '../observability/logger.ts'
import { parseAllowList, type AllowList } from './allow-list.ts'
import { GuardedHttp } from './guarded-http.ts'
import type { outboundSettings } from './outbound-settings.ts'

/**
 * HTTP clients for URLs of providers, one per environment. They share no connections, so an address that only sandbox may reach is
 * never reached for live.
 */
export type Outbound = {
  readonly of: (environment: Environment) => GuardedHttp
  readonly close: () => Promise<void>
}

/** Opens the clients. Logs the allowed addresses that are not public, if any. */
export function openOutbound(
  config: SettingValues<typeof outboundSettings>,
  answerBytesMax: number,
  logger: Logger,
): Outbound {
  const open = (environment: Environment): GuardedHttp => {
    const allowed = allowedIn(environment, config)
    if (allowed.text !== '') {
      const told = { environment, allowed: allowed.text }
      logger.info(
        told,
        'URLs of providers may lead to these addresses although they are not public',
      )
    }
    return new GuardedHttp({
      allowed,
      ports: config.outboundPorts,
      isPlainHttpAllowed: environment === 'sandbox',
      connectTimeoutMs: config.outboundConnectTimeoutMs,
      timeoutMs: config.outboundTimeoutMs,
      connectionsPerOriginMax: config.outboundConnectionsPerOriginMax,
      answerBytesMax,
    })
  }
  const opened = { sandbox: open('sandbox'), live: open('live') }
  return {
    of: (environment) => opened[environment],
    close: async () => {
      await Promise.all(environments.map((environment) => opened[environment].close()))
    },
  }
}

function allowedIn(
  environment: Environment,
  { outboundAllowed, outboundSandboxAllowed }: SettingValues<typeof outboundSettings>,
): AllowList {
  if (environment === 'live' || outboundSandboxAllowed.text === '') return outboundAllowed
  if (outboundAllowed.text === '') return outboundSandboxAllowed
  return parseAllowList(`${outboundAllowed.text},${outboundSandboxAllowed.text}`)
}
