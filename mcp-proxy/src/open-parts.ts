import { openDatabase } from '@tollgate/domain/postgres/open-database'
import { systemClock, type Clock } from '@tollgate/platform/clock/clock'
import type { Database } from '@tollgate/platform/database/database'
import { traceDatabase } from '@tollgate/platform/database/postgres/trace-database'
import { createLogger, type Logger } from '@tollgate/platform/observability/logger'
import type { Tracing } from '@tollgate/platform/observability/tracing'
import { openOutbound, type Outbound } from '@tollgate/platform/outbound/open-outbound'
import { openSecrets, type Secrets } from '@tollgate/platform/secrets/open-secrets'
import { openOwned, type Opened } from '@tollgate/platform/service/open-owned'
import { findServiceSecret, serviceSecretSettings } from '@tollgate/platform/service/service-secret'
import { SettingsError } from '@tollgate/platform/config/settings'
import type { McpProxyConfig } from './config.ts'
import type { Gate } from './gate/gate.ts'

export type Parts = {
  readonly clock: Clock
  readonly logger: Logger
  readonly tracing: Tracing | undefined
  readonly database: Pick<Database, 'in' | 'ping'>
  readonly secrets: Pick<Secrets, 'open'>
  /** Connections for requests to MCP servers. */
  readonly outbound: Pick<Outbound, 'of'>
  /** Connections for their streams of notifications, which stay open. */
  readonly streamOutbound: Pick<Outbound, 'of'>
  readonly serviceSecret: string
  /** If undefined, the service opens its own gate. */
  readonly gate: Gate | undefined
}

/** Opens all parts that are missing in `overrides`, in the same way as in a separate process. */
export function openParts(
  config: McpProxyConfig,
  overrides: Partial<Parts>,
): Promise<Opened<Parts>> {
  const logger = overrides.logger ?? createLogger('mcp-proxy', config.logLevel)
  const { tracing } = overrides
  const settings = {
    ...config,
    outboundConnectionsPerOriginMax: config.originConnectionsMax,
  }
  return openOwned(async (own) => ({
    clock: overrides.clock ?? systemClock,
    logger,
    tracing,
    secrets: overrides.secrets ?? (await openSecrets(config, logger)),
    outbound:
      overrides.outbound ?? (await own(openOutbound(settings, config.resultBytesMax, logger))),
    streamOutbound:
      overrides.streamOutbound ??
      (await own(openOutbound(settings, config.resultBytesMax, logger))),
    database: overrides.database ?? withTracing(tracing, await own(openDatabase(config))),
    serviceSecret: overrides.serviceSecret ?? (await secretOf(config)),
    gate: overrides.gate,
  }))
}

function withTracing(tracing: Tracing | undefined, database: Database): Database {
  return tracing === undefined ? database : traceDatabase(tracing, database)
}

async function secretOf(config: McpProxyConfig): Promise<string> {
  const secret = await findServiceSecret(config)
  if (secret !== undefined) return secret
  const { variable, description } = serviceSecretSettings.serviceSecret
  throw new SettingsError(`${variable} is not set: ${description}`)
}
