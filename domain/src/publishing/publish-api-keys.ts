import type { Sql } from 'postgres'
import type { HotState } from '@tollgate/platform/hot-state/hot-state'
import { apiKeyDocumentKey, type PublishedApiKey } from '@tollgate/schemas/hot-state/documents'
import { hasAllScopes } from '@tollgate/schemas/key-scopes'
import { publishTargets, type PublishWhen } from './publish-targets.ts'
import type { TargetName } from '../publications/repository.ts'
import { documentsInFlightMax, forEachConcurrently } from '../postgres/for-each-concurrently.ts'
import { findApiKeys, type PlacedApiKey } from '../api-keys/repository.ts'

/** Publishes API keys, so that the data plane accepts them, or refuses those that are revoked. */
export async function publishApiKeys(
  control: Sql,
  hotState: HotState,
  targets: readonly TargetName[],
  when: PublishWhen,
): Promise<void> {
  await publishTargets(control, 'api-key', targets, when, async (sql, due) => {
    const keyIds = due.map(({ target }) => target)
    const keys = await findApiKeys(sql, keyIds)
    await forEachConcurrently(keys, documentsInFlightMax, (key) => publishKey(hotState, key))
  })
}

async function publishKey(hotState: HotState, key: PlacedApiKey): Promise<void> {
  const documentKey = apiKeyDocumentKey(key.sha256)
  if (key.revokedAt !== null) return hotState.deleteDocument(documentKey)
  const document: PublishedApiKey = {
    keyId: key.keyId,
    providerId: key.providerId,
    environment: key.environment,
    expiresAtMs: key.expiresAt?.getTime() ?? null,
    ...(hasAllScopes(key.scopes) ? {} : { scopes: key.scopes }),
    ...(key.isMisplaced && { isMisplaced: true }),
    ...(key.isStrict && { isStrict: true }),
  }
  await hotState.putDocument(documentKey, JSON.stringify(document))
}
