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

/** What the commands work with. They talk to the stores themselves, so no service has to be running. */
export type CliParts = {
  readonly database: Database
  readonly hotState: HotState
  /** Of the command, for the audit log. */
  readonly actorOf: (command: string) => Actor
  readonly now: () => Date
  readonly output: Output
  /** With the keys that the services have. */
  readonly openSecrets: () => Promise<Secrets>
  /** Where people reach the console, without a slash at its end. */
  readonly hostedUrl: string
  /** How long a one-time link to set a password can be followed. */
  readonly passwordLinkMs: number
}

export type CliPlaces = HotStateConfig &
  Parameters<typeof openSecrets>[0] &
  Parameters<typeof databaseAddresses>[0] & {
    readonly hostedUrl: string
    readonly passwordLinkHours: number
  }

/** Opens the parts for the time of one command. */
export async function withCliParts(
  places: CliPlaces,
  output: Output,
  run: (parts: CliParts) => Promise<void>,
): Promise<void> {
  const logger = createLogger('cli', 'warn')
  const database = createPostgresDatabase({
    ...databaseAddresses(places),
    poolMax: 2,
    connectTimeoutSeconds: 5,
  })
  try {
    await database.ping()
    const hotState = await openHotState(places, 'publisher', logger)
    try {
      await run({
        database,
        hotState,
        actorOf: cliActor,
        now: () => new Date(),
        output,
        openSecrets: () => openSecrets(places, logger),
        hostedUrl: withoutSlash(places.hostedUrl),
        passwordLinkMs: places.passwordLinkHours * 3_600_000,
      })
    } finally {
      await hotState.close()
    }
  } finally {
    await database.close()
  }
}

/** The user of the machine on which the command runs. */
export function cliActor(command: string): Actor {
  return { name: `cli:${userInfo().username}`, operation: command, requestId: null, ip: null }
}
