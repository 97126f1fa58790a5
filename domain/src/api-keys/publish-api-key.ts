import type { Sql } from 'postgres'
import type { HotState } from '@tollgate/platform/hot-state/hot-state'
import { apiKeyDocumentKey, type PublishedApiKey } from '@tollgate/schemas/hot-state/documents'
import { publishTarget } from '../publications/publish-target.ts'
import type { PublicationTarget } from '../publications/repository.ts'
import { findApiKey } from './repository.ts'

/** Makes the data plane take the key, or refuse it once it is revoked. */
export async function publishApiKey(
  control: Sql,
  hotState: HotState,
  target: PublicationTarget,
  when: 'pending' | 'always',
): Promise<void> {
  await publishTarget(control, target, when, async (sql) => {
    const key = await findApiKey(sql, target.target)
    if (key === undefined) return
    const documentKey = apiKeyDocumentKey(key.sha256)
    if (key.revokedAt !== null) return hotState.deleteDocument(documentKey)
    const document: PublishedApiKey = {
      keyId: key.keyId,
      providerId: key.providerId,
      environment: key.environment,
      expiresAtMs: key.expiresAt?.getTime() ?? null,
    }
    await hotState.putDocument(documentKey, JSON.stringify(document))
  })
}
