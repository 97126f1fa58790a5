import type { FastifyRequest } from 'fastify'
import type { Clock } from '@tollgate/platform/clock/clock'
import type { Database } from '@tollgate/platform/database/database'
import type { Operation } from '@tollgate/domain/unit-of-work/unit-of-work'
import type { KeyScope } from '@tollgate/schemas/key-scopes'
import type { Environment } from '@tollgate/schemas/environment'
import { findApiKeyBySha256, type ApiKey } from '@tollgate/domain/api-keys/repository'
import { environmentOfSecretKey, sha256OfSecretKey } from '@tollgate/domain/api-keys/secret-key'
import { refusals } from '../../errors.ts'
import type { ApiServer } from '../api-server.ts'

/** Who calls: a provider, in the environment that its key belongs to. */
export type Caller = {
  readonly providerId: string
  readonly environment: Environment
}

declare module 'fastify' {
  interface FastifyContextConfig {
    /** What a key needs for the route. Default: `read` where the method only reads, else `manage`. */
    scope?: KeyScope | 'any'
  }
  interface FastifyRequest {
    /** Set by the authentication hook. Read it through `callerOf` or `apiKeyOf`. */
    apiKey: ApiKey | null
  }
}

/**
 * Every route registered on this instance afterwards needs a secret key. PostgreSQL is asked each time, so a key
 * that was revoked is refused from that moment on.
 */
export function installAuthentication(app: ApiServer, database: Database, clock: Clock): void {
  app.decorateRequest('apiKey', null)
  app.addHook('onRequest', async (request) => {
    const secret = bearerToken(request.headers.authorization)
    if (secret === undefined || environmentOfSecretKey(secret) === undefined)
      throw refusals.badKey()
    const key = await findApiKeyBySha256(database.control, sha256OfSecretKey(secret))
    if (key === undefined || !isUsable(key, clock.now())) throw refusals.badKey()
    request.apiKey = key
    const scope = request.routeOptions.config.scope ?? scopeOfMethod(request.method)
    if (scope !== 'any' && !key.scopes.includes(scope)) throw refusals.scopeMissing(scope)
  })
}

export function apiKeyOf(request: FastifyRequest): ApiKey {
  if (request.apiKey === null) throw new Error(`${request.url} is served without authentication`)
  return request.apiKey
}

export function callerOf(request: FastifyRequest): Caller {
  const { providerId, environment } = apiKeyOf(request)
  return { providerId, environment }
}

export function operationOf(request: FastifyRequest, clock: Clock): Operation {
  const idempotencyKey = request.headers['idempotency-key']
  return {
    ...callerOf(request),
    now: new Date(clock.now()),
    requestId: request.id,
    idempotencyKey: typeof idempotencyKey === 'string' ? idempotencyKey : null,
  }
}

function scopeOfMethod(method: string): KeyScope {
  return method === 'GET' || method === 'HEAD' ? 'read' : 'manage'
}

function isUsable(key: ApiKey, nowMs: number): boolean {
  return key.revokedAt === null && (key.expiresAt === null || key.expiresAt.getTime() > nowMs)
}

function bearerToken(header: string | undefined): string | undefined {
  return header === undefined ? undefined : /^Bearer +(\S+) *$/i.exec(header)?.[1]
}
