import type { ApiKey } from '@tollgate/domain/api-keys/repository'

/** Whether the key opens anything: it is neither revoked nor expired. */
export function isUsable(key: ApiKey, nowMs: number): boolean {
  return key.revokedAt === null && (key.expiresAt === null || key.expiresAt.getTime() > nowMs)
}
