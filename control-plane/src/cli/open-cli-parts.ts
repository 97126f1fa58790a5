import { userInfo } from 'node:os'
import type { Output } from '@tollgate/platform/cli/output'
import type { Actor } from '@tollgate/domain/audit/actor'
import type { Database } from '@tollgate/platform/database/database'
import { databaseAddresses } from '@tollgate/platform/database/postgres/database-settings'
import { createPostgresDatabase } from '@tollgate/platform/database/postgres/postgres-database'
import type { HotState } from '@tollgate/platform/hot-state/hot-state'
import { openHotState, type HotStateConfig } from '@tollgate/platform/hot-state/open-hot-state'
import { createLogger } from '@tollgate/platform/observability/logger'
import { openSecrets, type Secrets } from '@tollgate/platform/secrets/open-secrets'
import { withoutSlash } from '@tollgate/domain/sessions/hosted-url'

/** The parts that commands use. Commands connect to the stores directly, so no service has to run. */
export type CliParts = {
  readonly database: Database
  readonly hotState: HotState
  /** Returns the actor that the audit log records for the command. */
  readonly actorOf: (command: string) => Actor
  readonly now: () => Date
  readonly output: Output
  /** Opens provider secrets with the same encryption keys as the services. */
  readonly openSecrets: () => Promise<Secrets>
  /** Address where users open the console, without a trailing slash. */
  readonly hostedUrl: string
  /** Validity of a one-time link to set a password, in milliseconds. */
  readonly passwordLinkMs: number
}

export type CliConfig = HotStateConfig &
  Parameters<typeof openSecrets>[0] &
  Parameters<typeof databaseAddresses>[0] & {
    readonly hostedUrl: string
    readonly passwordLinkHours: number
  }

/** Opens the parts, runs one command with them and closes them. */
export async function withCliParts(
  config: CliConfig,
  output: Output,
  run: (parts: CliParts) => Promise<void>,
): Promise<void> {
  const logger = createLogger('cli', 'warn')
  const database = createPostgresDatabase({
    ...databaseAddresses(config),
    poolMax: 2,
    connectTimeoutSeconds: 5,
  })
  try {
    await database.ping()
    const hotState = await openHotState(config, 'publisher', logger)
    try {
      await run({
        database,
        hotState,
        actorOf: cliActor,
        now: () => new Date(),
        output,
        openSecrets: () => openSecrets(config, logger),
        hostedUrl: withoutSlash(config.hostedUrl),
        passwordLinkMs: config.passwordLinkHours * 3_600_000,
      })
    } finally {
      await hotState.close()
    }
  } finally {
    await database.close()
  }
}

/** Returns the actor for the operating system user that runs the command. */
export function cliActor(command: string): Actor {
  return { name: `cli:${userInfo().username}`, operation: command, requestId: null, ip: null }
}
