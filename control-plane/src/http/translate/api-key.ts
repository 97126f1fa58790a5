import type { ApiKey } from '@tollgate/domain/api-keys/repository'
import type { ApiKeyBody } from '@tollgate/schemas/http/api-keys'
import { present } from '../../domain/present.ts'

export function apiKeyToHttp(key: ApiKey, now: Date): ApiKeyBody {
  const { keyId, environment, scopes, last4, revokedAt, expiresAt } = key
  return {
    keyId,
    environment,
    scopes: [...scopes],
    last4,
    status: statusOf(key, now),
    strict: key.isStrict,
    createdAt: key.createdAt.toISOString(),
    ...present({
      name: key.name,
      expiresAt: expiresAt?.toISOString(),
      revokedAt: revokedAt?.toISOString(),
    }),
  }
}

function statusOf({ revokedAt, expiresAt }: ApiKey, now: Date): ApiKeyBody['status'] {
  if (revokedAt !== null) return 'revoked'
  return expiresAt !== null && expiresAt.getTime() <= now.getTime() ? 'expired' : 'active'
}
