import type { FastifyRequest, onRequestHookHandler } from 'fastify'
import type { Clock } from '@tollgate/platform/clock/clock'
import type { Database } from '@tollgate/platform/database/database'
import { isSecret } from '@tollgate/platform/service/folder-secret'
import {
  environmentOfSecretKey,
  faultOfAuthorization,
  secretKeyOf,
  sha256OfSecretKey,
} from '@tollgate/domain/api-keys/secret-key'
import { holderOfServiceKey } from '@tollgate/domain/api-keys/service-key'
import { findConsoleSession } from '@tollgate/domain/console/access-tokens'
import { isAccessToken } from '@tollgate/domain/console/tokens'
import { findProvider } from '@tollgate/domain/providers/repository'
import type { Environment } from '@tollgate/schemas/environment'
import type { ApiServer } from '../../access/api-server.ts'
import { bearerToken, holderOf, type Credential } from '../../access/caller.ts'
import { readCookieSession } from '../../console/session-cookie.ts'
import { createKeyLookup, type FindKey } from '../../access/key-lookup.ts'
import { requireScopeOfRoute } from '../../access/scopes.ts'
import { isUsableKey } from '../../access/usable-key.ts'
import { refusals } from '../../errors.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Response to a live key whose provider is not live yet. Default: the key is refused. */
    misplacedKey?: 'served' | 'not-found'
  }
}

/**
 * Requires a secret key for every route registered on this instance afterwards. Console routes also accept the access token of a
 * signed-in user, in the Authorization header or in the console's cookie. Every request queries PostgreSQL, so that a revoked
 * credential is refused at once and the user's current role applies.
 */
export function installAuthentication(app: ApiServer, parts: AuthenticationParts): void {
  const { database, clock } = parts
  const findKey = createKeyLookup(database)
  app.decorateRequest('credential', null)
  app.addHook('onRequest', async (request) => {
    const user = isOfConsole(request) ? accessTokenOf(request) : undefined
    const credential =
      user !== undefined
        ? await requireSession(database, user, clock)
        : ((await findService(parts, request)) ?? (await requireKey(findKey, request, clock)))
    request.credential = credential
    if (holderOf(credential).isMisplaced) refuseMisplaced(request)
    requireScopeOfRoute(credential, request)
  })
}

export type AuthenticationParts = {
  readonly database: Database
  readonly clock: Clock
  /** Secret from which the keys of other services are derived. Undefined means that no service has a key. */
  readonly serviceSecret: string | undefined
}

/** Returns undefined if the request has no service key that is valid here. The request is then authenticated like any other. */
async function findService(
  { database, serviceSecret }: AuthenticationParts,
  { headers }: FastifyRequest,
): Promise<Credential | undefined> {
  if (serviceSecret === undefined) return undefined
  const holder = holderOfServiceKey(serviceSecret, headers.authorization ?? '')
  if (holder === undefined) return undefined
  const provider = await findProvider(database.control, holder.providerId)
  if (provider === undefined) throw refusals.badKey('invalid_key')
  const isMisplaced = holder.environment === 'live' && !provider.isLive
  return { kind: 'service', service: { ...holder, isMisplaced } }
}

function refuseMisplaced({ routeOptions }: FastifyRequest): void {
  switch (routeOptions.config.misplacedKey) {
    case 'served':
      return
    case 'not-found':
      throw refusals.providerNotLive()
    case undefined:
      throw refusals.keyMisplaced()
  }
}

async function requireKey(
  findKey: FindKey,
  request: FastifyRequest,
  clock: Clock,
): Promise<Credential> {
  const authorization = request.headers.authorization || `Bearer ${apiKeyHeader(request) ?? ''}`
  const secret = secretKeyOf(authorization)
  if (secret === undefined || environmentOfSecretKey(secret) === undefined) {
    throw refusals.badKey(faultOfAuthorization(authorization))
  }
  const key = await findKey(sha256OfSecretKey(secret))
  if (key === undefined || !isUsableKey(key, clock.now())) throw refusals.badKey('invalid_key')
  return { kind: 'key', key }
}

/** An access token. A request with the console's cookie has an environment that replaces that of the token, and may name its user. */
type GivenToken = {
  readonly token: string
  readonly environment?: Environment
  readonly userId?: string | undefined
}

function accessTokenOf(request: FastifyRequest): GivenToken | undefined {
  const bearer = bearerToken(request)
  if (bearer !== undefined && isAccessToken(bearer)) return { token: bearer }
  return readCookieSession(request)
}

async function requireSession(
  database: Database,
  { token, environment, userId }: GivenToken,
  clock: Clock,
): Promise<Credential> {
  const now = new Date(clock.now())
  const session = await findConsoleSession(database.control, token, now, environment)
  if (session === undefined) throw refusals.badAccessToken()
  // Tabs share the cookie. A page of one user must not change anything of another user's provider after another sign-in.
  if (userId !== undefined && userId !== session.userId) throw refusals.badAccessToken()
  return { kind: 'user', session }
}

function isOfConsole({ routeOptions }: FastifyRequest): boolean {
  return /^(\/v1)?\/ui\//.test(routeOptions.url ?? '')
}

/**
 * Returns the key of the `X-API-Key` header if the Authorization header is missing or empty. If a request has both, the
 * Authorization header counts.
 */
function apiKeyHeader({ headers }: FastifyRequest): string | undefined {
  const { authorization, 'x-api-key': key } = headers
  return !authorization && typeof key === 'string' ? key.trim() : undefined
}

/**
 * Guards a route for other services of the installation. Callers without the secret get the response of a route that does not
 * exist.
 */
export function hiddenUnless(secret: string): onRequestHookHandler {
  return (request, _reply, done) => {
    if (isSecret(secret, bearerToken(request) ?? '')) done()
    else done(refusals.routeNotFound(request.method, request.url))
  }
}
