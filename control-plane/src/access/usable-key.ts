import type { ApiKey } from '@tollgate/domain/api-keys/repository'

/** Returns whether a key authenticates requests: it is neither revoked nor expired. */
export function isUsableKey(key: ApiKey, nowMs: number): boolean {
  return key.revokedAt === null && (key.expiresAt === null || key.expiresAt.getTime() > nowMs)
}
