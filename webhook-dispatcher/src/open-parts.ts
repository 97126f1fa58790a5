import { systemClock, type Clock } from '@tollgate/platform/clock/clock'
import type { Database } from '@tollgate/platform/database/database'
import { traceDatabase } from '@tollgate/platform/database/postgres/trace-database'
import { createLogger, type Logger } from '@tollgate/platform/observability/logger'
import type { Tracing } from '@tollgate/platform/observability/tracing'
import { openOutbound, type Outbound } from '@tollgate/platform/outbound/open-outbound'
import { openSecrets, type Secrets } from '@tollgate/platform/secrets/open-secrets'
import { openOwned, type Opened } from '@tollgate/platform/service/open-owned'
import { openDatabase } from '@tollgate/domain/postgres/open-database'
import type { WebhookDispatcherConfig } from './config.ts'

export type Parts = {
  readonly clock: Clock
  /** Returns a number from 0 up to 1. */
  readonly random: () => number
  readonly logger: Logger
  readonly tracing: Tracing | undefined
  readonly database: Database
  readonly secrets: Pick<Secrets, 'open'>
  readonly outbound: Pick<Outbound, 'of'>
}

/** Opens the parts that the caller did not pass in. */
export async function openParts(
  config: WebhookDispatcherConfig,
  overrides: Partial<Parts>,
): Promise<Opened<Parts>> {
  const parts = await openUntraced(config, overrides)
  const { tracing, database } = parts
  return tracing === undefined ? parts : { ...parts, database: traceDatabase(tracing, database) }
}

function openUntraced(
  config: WebhookDispatcherConfig,
  overrides: Partial<Parts>,
): Promise<Opened<Parts>> {
  const logger = overrides.logger ?? createLogger('webhook-dispatcher', config.logLevel)
  return openOwned(async (own) => ({
    clock: overrides.clock ?? systemClock,
    random: overrides.random ?? Math.random,
    logger,
    tracing: overrides.tracing,
    secrets: overrides.secrets ?? (await openSecrets(config, logger)),
    outbound: overrides.outbound ?? (await own(openOutbound(config, 0, logger))),
    database: overrides.database ?? (await own(openDatabase(config))),
  }))
}
