import type { Database } from '@tollgate/platform/database/database'
import { environments } from '@tollgate/schemas/environment'
import { setActor, type Actor } from '../audit/actor.ts'
import { changeMerchant, findMerchant } from '../merchants/repository.ts'
import { runUnitOfWork } from '../unit-of-work/run-unit-of-work.ts'
import { setProviderName } from './repository.ts'

/**
 * Changes the name that customers see in both environments. Display names of the environments are removed, because they would hide
 * the new name. Returns false if there is no such provider. After a crash in between, the command can be repeated.
 */
export async function renameProvider(
  database: Database,
  actor: Actor,
  providerId: string,
  name: string,
  now: Date,
): Promise<boolean> {
  const isThere = await database.of(providerId).control.write((sql) => {
    setActor(sql, actor)
    return setProviderName(sql, providerId, name)
  })
  if (!isThere) return false
  for (const environment of environments) {
    const operation = { providerId, environment, now, actor, requestId: null, idempotencyKey: null }
    await runUnitOfWork(database, operation, async ({ sql }) => {
      const { displayName } = await findMerchant(sql, providerId)
      if (displayName !== null) await changeMerchant(sql, providerId, { displayName: null }, now)
    })
  }
  return true
}
