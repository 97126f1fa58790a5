import { z } from 'zod'
import { earlierExpiry } from '@tollgate/domain/api-keys/earlier-expiry'
import { issueApiKey, type OnUnpublished } from '@tollgate/domain/publishing/issue-api-key'
import { findApiKeys, listApiKeys, type ApiKey } from '@tollgate/domain/api-keys/repository'
import { revokeApiKey, rotateApiKey } from '@tollgate/domain/publishing/retire-api-key'
import {
  apiKeyCreateSchema,
  apiKeyRotateSchema,
  apiKeySchema,
  apiKeysResponseSchema,
  issuedApiKeySchema,
  type ApiKeyBody,
} from '@tollgate/schemas/http/api-keys'
import { requiredReference } from '@tollgate/schemas/http/fields'
import type { KeyScope } from '@tollgate/schemas/key-scopes'
import type { Logger } from '@tollgate/platform/observability/logger'
import type { Clock } from '@tollgate/platform/clock/clock'
import { refusals } from '../../errors.ts'
import type { ApiServer } from '../../access/api-server.ts'
import {
  actorOf,
  callerOf,
  credentialOf,
  type Caller,
  type Credential,
} from '../../access/caller.ts'
import { scopesOf } from '../../access/scopes.ts'
import { readControl, type ReadParts } from '../../access/read.ts'
import type { ChangeParts } from '../../access/commit.ts'
import { definedFields } from '../../domain/defined-fields.ts'

const tags = ['Keys']
const params = z.object({ keyId: requiredReference })
/** Reading keys needs the same scope as changing them, because a list of keys tells an attacker what to target. */
const config = { scope: 'manage' } as const

/** Registers the routes of the provider's keys in the environment of the calling key. */
export function registerApiKeyRoutes(app: ApiServer, parts: ChangeParts): void {
  app.get(
    '/v1/ui/api-keys',
    { config, schema: { tags, response: { 200: apiKeysResponseSchema } } },
    async (request) => {
      const { providerId, environment } = callerOf(request)
      const keys = await readControl(parts, { providerId }, (sql) => listApiKeys(sql, providerId))
      const own = keys.filter((key) => key.environment === environment)
      return { apiKeys: own.map((key) => apiKeyToHttp(key, nowOf(parts))) }
    },
  )

  app.post(
    '/v1/ui/api-keys',
    {
      config,
      schema: { tags, body: apiKeyCreateSchema, response: { 201: issuedApiKeySchema } },
    },
    async (request, reply) => {
      const now = nowOf(parts)
      const credential = credentialOf(request)
      const { name, expiresAt, scopes = scopesOf(credential), strict } = request.body
      requireOwnScopes(credential, scopes)
      const requestedExpiry = expiresAt === undefined ? null : new Date(expiresAt)
      if (requestedExpiry !== null && requestedExpiry <= now) throw refusals.keyExpiresInThePast()
      const fields = {
        ...callerOf(request),
        name: name ?? null,
        scopes: [...new Set(scopes)],
        expiresAt: earlierExpiry(requestedExpiry, ownExpiry(credential)),
        isStrict: strict ?? false,
      }
      const { database, hotState } = parts.publisher
      const actor = actorOf(request)
      const reportUnpublished = onUnpublished(parts)
      const { key, secretKey } = await issueApiKey(
        database,
        hotState,
        actor,
        fields,
        now,
        reportUnpublished,
      )
      return reply.code(201).send({ ...apiKeyToHttp(key, now), secretKey })
    },
  )

  registerRotationAndRevocation(app, parts)
}

function registerRotationAndRevocation(app: ApiServer, parts: ChangeParts): void {
  app.post(
    '/v1/ui/api-keys/:keyId/rotate',
    {
      config,
      schema: {
        tags,
        params,
        body: apiKeyRotateSchema.nullish(),
        response: { 201: issuedApiKeySchema },
      },
    },
    async (request, reply) => {
      const { keyId } = request.params
      const old = await requireOwnKey(parts, callerOf(request), keyId)
      const credential = credentialOf(request)
      requireOwnScopes(credential, old.scopes)
      const { overlapHours } = request.body ?? apiKeyRotateSchema.parse({})
      const overlapMs = Math.round(overlapHours * 3_600_000)
      const rotation = { overlapMs, latestExpiry: ownExpiry(credential) }
      const { database, hotState } = parts.publisher
      const actor = actorOf(request)
      const now = nowOf(parts)
      const reportUnpublished = onUnpublished(parts)
      const outcome = await rotateApiKey(
        database,
        hotState,
        actor,
        old,
        rotation,
        now,
        reportUnpublished,
      )
      switch (outcome.kind) {
        case 'not-found':
          throw refusals.keyNotFound(keyId)
        case 'already-revoked':
          throw refusals.keyRevoked(keyId)
        case 'expired':
          throw refusals.keyExpired(keyId)
        case 'rotated': {
          const { key, secretKey } = outcome.successor
          return reply.code(201).send({ ...apiKeyToHttp(key, now), secretKey })
        }
      }
    },
  )

  app.delete(
    '/v1/ui/api-keys/:keyId',
    { config, schema: { tags, params, response: { 200: apiKeySchema } } },
    async (request) => {
      const { keyId } = request.params
      const key = await requireOwnKey(parts, callerOf(request), keyId)
      const now = nowOf(parts)
      const { database, hotState } = parts.publisher
      const actor = actorOf(request)
      const outcome = await revokeApiKey(database, hotState, actor, key, now, onUnpublished(parts))
      if (outcome.kind === 'not-found') throw refusals.keyNotFound(keyId)
      return apiKeyToHttp(outcome.key, now)
    },
  )
}

async function requireOwnKey(
  parts: ReadParts,
  { providerId, environment }: Caller,
  keyId: string,
): Promise<ApiKey> {
  const [key] = await readControl(parts, { providerId }, (sql) => findApiKeys(sql, [keyId]))
  if (key?.providerId !== providerId || key.environment !== environment) {
    throw refusals.keyNotFound(keyId)
  }
  return key
}

/** Refuses a key that creates another key with more scopes than its own. */
function requireOwnScopes(own: Credential, scopes: readonly KeyScope[]): void {
  const missing = scopes.find((scope) => !scopesOf(own).includes(scope))
  if (missing !== undefined) throw refusals.scopeMissing(missing)
}

/**
 * Returns when the caller's own key expires. No key that it creates or rotates outlives it. Keys that a user creates stay valid
 * when the user signs out.
 */
function ownExpiry(own: Credential): Date | null {
  return own.kind === 'key' ? own.key.expiresAt : null
}

function onUnpublished({ logger }: { readonly logger: Logger }): OnUnpublished {
  return (error) => logger.error({ err: error }, 'a key was changed but is not published yet')
}

function nowOf(parts: { readonly clock: Clock }): Date {
  return new Date(parts.clock.now())
}

function apiKeyToHttp(key: ApiKey, now: Date): ApiKeyBody {
  const { keyId, environment, scopes, last4, revokedAt, expiresAt } = key
  return {
    keyId,
    environment,
    scopes: [...scopes],
    last4,
    status: statusOf(key, now),
    strict: key.isStrict,
    createdAt: key.createdAt.toISOString(),
    ...definedFields({
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
