import type { Database } from '@tollgate/platform/database/database'
import type { HotState } from '@tollgate/platform/hot-state/hot-state'
import { apiKeyTarget, publishKeys, type OnUnpublished } from '../publishing/issue-api-key.ts'
import { listApiKeys } from '../api-keys/repository.ts'
import { setActor, type Actor } from '../audit/actor.ts'
import { insertPublication } from '../publications/repository.ts'
import { setProviderLive } from './repository.ts'

/** Activates the provider's live keys. Returns false if there is no such provider. Repeating it changes nothing. */
export async function enableLive(
  database: Database,
  hotState: HotState,
  actor: Actor,
  providerId: string,
  onUnpublished?: OnUnpublished,
): Promise<boolean> {
  const targets = await database.of(providerId).control.write(async (sql) => {
    setActor(sql, actor)
    if (!(await setProviderLive(sql, providerId))) return undefined
    const keys = (await listApiKeys(sql, providerId)).map(apiKeyTarget)
    for (const target of keys) await insertPublication(sql, target)
    return keys
  })
  if (targets === undefined) return false
  await publishKeys(database, hotState, targets, onUnpublished)
  return true
}
