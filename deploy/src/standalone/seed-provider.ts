import { jobActor } from '@tollgate/domain/audit/actor'
import { issueApiKey } from '@tollgate/domain/publishing/issue-api-key'
import { listApiKeys } from '@tollgate/domain/api-keys/repository'
import { revokeApiKey } from '@tollgate/domain/publishing/retire-api-key'
import { createProvider } from '@tollgate/domain/providers/create-provider'
import { listProviders } from '@tollgate/domain/providers/repository'
import type { Database } from '@tollgate/platform/database/database'
import { readSettings, textSetting } from '@tollgate/platform/config/settings'
import {
  databaseAddresses,
  databaseSettings,
} from '@tollgate/platform/database/postgres/database-settings'
import { createPostgresDatabase } from '@tollgate/platform/database/postgres/postgres-database'
import type { HotState } from '@tollgate/platform/hot-state/hot-state'
import { hotStateSettings } from '@tollgate/platform/hot-state/hot-state-settings'
import { openHotState } from '@tollgate/platform/hot-state/open-hot-state'
import { createLogger } from '@tollgate/platform/observability/logger'
import type { Environment } from '@tollgate/schemas/environment'

export type SeededKeys = { readonly sandboxKey: string; readonly liveKey: string }

const settings = {
  ...databaseSettings,
  ...hotStateSettings,
  dataDir: textSetting('TOLLGATE_DATA_DIR', 'Folder of the embedded hot state'),
}

const name = 'Demo provider'
const email = 'owner@demo.example'

/**
 * Creates the demo provider, or reuses the one that an interrupted start created, and issues a key for each environment. Secrets
 * are only shown once, so the keys of an interrupted start are unknown. They are revoked.
 */
export async function seedProvider(
  environment: Readonly<Record<string, string | undefined>>,
): Promise<SeededKeys> {
  const config = readSettings(settings, environment)
  const database = createPostgresDatabase({ ...databaseAddresses(config), poolMax: 2 })
  try {
    const logger = createLogger('start', 'warn')
    const hotState = await openHotState(config, 'publisher', logger)
    try {
      return await makeKeys(database, hotState)
    } finally {
      await hotState.close()
    }
  } finally {
    await database.close()
  }
}

async function makeKeys(database: Database, hotState: HotState): Promise<SeededKeys> {
  const now = new Date()
  const providers = await listProviders(database.control)
  const { providerId } =
    providers.find((each) => each.name === name && each.email === email) ??
    (await createProvider(
      database,
      hotState,
      jobActor('seed-provider'),
      { name, email, defaultCurrency: 'USD', cycleMode: 'calendar' },
      now,
    ))
  for (const key of await listApiKeys(database.control, providerId)) {
    await revokeApiKey(database, hotState, jobActor('seed-provider'), key, now)
  }
  const issue = async (environment: Environment): Promise<string> => {
    const fields = { providerId, environment, name: 'npm start', expiresAt: null }
    return (await issueApiKey(database, hotState, jobActor('seed-provider'), fields, now)).secretKey
  }
  return { sandboxKey: await issue('sandbox'), liveKey: await issue('live') }
}
