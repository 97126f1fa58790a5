import type { Database } from '@tollgate/platform/database/database'
import { createPostgresDatabase } from '@tollgate/platform/database/postgres/postgres-database'
import type { HotState } from '@tollgate/platform/hot-state/hot-state'
import { openHotState, type HotStateConfig } from '@tollgate/platform/hot-state/open-hot-state'
import { createLogger } from '@tollgate/platform/observability/logger'

/** What the commands work with. They talk to the stores themselves, so no service has to be running. */
export type CliParts = {
  readonly database: Database
  readonly hotState: HotState
  readonly now: () => Date
  readonly print: (line: string) => void
}

export type CliPlaces = HotStateConfig & { readonly databaseUrl: string }

/** Opens the parts for the time of one command. */
export async function withCliParts(
  places: CliPlaces,
  run: (parts: CliParts) => Promise<void>,
): Promise<void> {
  const database = createPostgresDatabase({
    url: places.databaseUrl,
    poolMax: 2,
    connectTimeoutSeconds: 5,
  })
  try {
    const hotState = await openHotState(places, 'publisher', createLogger('cli', 'warn'))
    try {
      await run({
        database,
        hotState,
        now: () => new Date(),
        print: (line) => process.stdout.write(`${line}\n`),
      })
    } finally {
      await hotState.close()
    }
  } finally {
    await database.close()
  }
}
