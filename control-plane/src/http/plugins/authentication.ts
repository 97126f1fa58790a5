import type { FastifyContextConfig, FastifyRequest, onRequestHookHandler } from 'fastify'
import type { Clock } from '@tollgate/platform/clock/clock'
import type { Database } from '@tollgate/platform/database/database'
import { isSecret } from '@tollgate/platform/service/folder-secret'
import { userActor, type Actor, type ActorOrigin } from '@tollgate/domain/audit/actor'
import type { Operation } from '@tollgate/domain/unit-of-work/unit-of-work'
import { scopesOfRole } from '@tollgate/schemas/console-roles'
import type { KeyScope } from '@tollgate/schemas/key-scopes'
import type { Environment } from '@tollgate/schemas/environment'
import { idempotencyKeyCharsMax } from '@tollgate/schemas/limits'
import {
  findApiKeyBySha256,
  type ApiKey,
  type PlacedApiKey,
} from '@tollgate/domain/api-keys/repository'
import {
  environmentOfSecretKey,
  faultOfAuthorization,
  secretKeyOf,
  sha256OfSecretKey,
} from '@tollgate/domain/api-keys/secret-key'
import {
  holderOfServiceKey,
  serviceActorName,
  serviceScopes,
  type ServiceKeyHolder,
} from '@tollgate/domain/api-keys/service-key'
import { findConsoleSession, type ConsoleSession } from '@tollgate/domain/console/access-tokens'
import { isAccessToken } from '@tollgate/domain/console/tokens'
import { findProvider } from '@tollgate/domain/providers/repository'
import { refusals } from '../../errors.ts'
import type { ApiServer } from '../api-server.ts'

/** Who calls: a provider, in the environment that its key or access token belongs to. */
export type Caller = {
  readonly providerId: string
  readonly environment: Environment
}

/** What a request was let in with. */
export type Credential =
  | { readonly kind: 'key'; readonly key: PlacedApiKey }
  | { readonly kind: 'user'; readonly session: ConsoleSession }
  /** Another service of the installation, for a provider. */
  | { readonly kind: 'service'; readonly service: ServiceKeyHolder & { isMisplaced: boolean } }

declare module 'fastify' {
  interface FastifyContextConfig {
    /** What a caller needs for the route, one of those given. Default: `read` where the method only reads, else `manage`. */
    scope?: KeyScope | readonly [KeyScope, ...KeyScope[]] | 'any'
    /** What a live key whose provider is not live yet gets. Default: it does not fit. */
    misplacedKey?: 'served' | 'not-found'
  }
  interface FastifyRequest {
    /** Set by the authentication hook. Read it through `callerOf`, `credentialOf` or one of those beside them. */
    credential: Credential | null
  }
}

/**
 * Every route registered on this instance afterwards needs a secret key; those of the console take the access token of
 * somebody who is signed in as well. PostgreSQL is asked each time, so that what was revoked is refused from that moment
 * on, and a user's role is the one of now.
 */
export function installAuthentication(app: ApiServer, parts: AuthenticationParts): void {
  const { database, clock } = parts
  app.decorateRequest('credential', null)
  app.addHook('onRequest', async (request) => {
    const bearer = bearerToken(request)
    const credential =
      bearer !== undefined && isAccessToken(bearer) && isOfConsole(request)
        ? await requireSession(database, bearer, clock)
        : ((await findService(parts, request)) ?? (await requireKey(database, request, clock)))
    request.credential = credential
    if (holderOf(credential).isMisplaced) refuseMisplaced(request)
    requireScope(credential, request.routeOptions.config.scope ?? scopeOfMethod(request.method))
  })
}

export type AuthenticationParts = {
  readonly database: Database
  readonly clock: Clock
  /** Keys of other services are made of it. Undefined means that no service has a key. */
  readonly serviceSecret: string | undefined
}

function holderOf(credential: Credential): Caller & { readonly isMisplaced: boolean } {
  switch (credential.kind) {
    case 'key':
      return credential.key
    case 'user':
      return credential.session
    case 'service':
      return credential.service
  }
}

/** Undefined if the request has no service key that is valid here: it is judged as any other key is. */
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
  database: Database,
  request: FastifyRequest,
  clock: Clock,
): Promise<Credential> {
  const authorization = request.headers.authorization || `Bearer ${apiKeyHeader(request) ?? ''}`
  const secret = secretKeyOf(authorization)
  if (secret === undefined || environmentOfSecretKey(secret) === undefined) {
    throw refusals.badKey(faultOfAuthorization(authorization))
  }
  const key = await findApiKeyBySha256(database.control, sha256OfSecretKey(secret))
  if (key === undefined || !isUsable(key, clock.now())) throw refusals.badKey('invalid_key')
  return { kind: 'key', key }
}

async function requireSession(
  database: Database,
  token: string,
  clock: Clock,
): Promise<Credential> {
  const session = await findConsoleSession(database.control, token, new Date(clock.now()))
  if (session === undefined) throw refusals.badAccessToken()
  return { kind: 'user', session }
}

function requireScope(
  credential: Credential,
  scope: NonNullable<FastifyContextConfig['scope']>,
): void {
  if (scope === 'any') return
  const [needed, ...others] = typeof scope === 'string' ? [scope] : scope
  if ([needed, ...others].some((each) => scopesOf(credential).includes(each))) return
  throw credential.kind === 'user'
    ? refusals.roleTooLow(credential.session.role)
    : refusals.scopeMissing(needed)
}

export function scopesOf(credential: Credential): readonly KeyScope[] {
  switch (credential.kind) {
    case 'key':
      return credential.key.scopes
    case 'user':
      return scopesOfRole(credential.session.role)
    case 'service':
      return serviceScopes
  }
}

/**
 * Whether the caller may change purchases. Callers who may not are shown no link of a customer's page and no secret of a
 * payment: either would let them act as the customer.
 */
export function mayManage(request: FastifyRequest): boolean {
  return scopesOf(credentialOf(request)).includes('manage')
}

export function credentialOf(request: FastifyRequest): Credential {
  if (request.credential === null) {
    throw new Error(`${request.url} is served without authentication`)
  }
  return request.credential
}

/** For what is about a key itself. */
export function apiKeyOf(request: FastifyRequest): PlacedApiKey {
  const credential = credentialOf(request)
  if (credential.kind !== 'key') throw refusals.badKey('malformed_key')
  return credential.key
}

/** For what a person does: a key, which is of one environment, must not become a user of both. */
export function sessionOf(request: FastifyRequest): ConsoleSession {
  const credential = credentialOf(request)
  if (credential.kind !== 'user') throw refusals.notSignedIn()
  return credential.session
}

export function callerOf(request: FastifyRequest): Caller {
  const { providerId, environment } = holderOf(credentialOf(request))
  return { providerId, environment }
}

export function operationOf(request: FastifyRequest, clock: Clock): Operation {
  return {
    ...callerOf(request),
    now: new Date(clock.now()),
    actor: actorOf(request),
    requestId: request.id,
    idempotencyKey: idempotencyKeyOf(request),
  }
}

/**
 * Returns the key of the header; null if it is empty or there is none. A key may be as long as the body field of usage, and
 * has characters that every HTTP server reads alike. It is checked for all calls that may change something, because it is
 * stored with their events.
 */
function idempotencyKeyOf({ headers }: FastifyRequest): string | null {
  const key = headers['idempotency-key']
  if (typeof key !== 'string' || key === '') return null
  if (key.length > idempotencyKeyCharsMax || !/^[\x20-\x7e]+$/.test(key)) {
    throw refusals.idempotencyKeyInvalid(idempotencyKeyCharsMax)
  }
  return key
}

function isOfConsole({ routeOptions }: FastifyRequest): boolean {
  return /^(\/v1)?\/ui\//.test(routeOptions.url ?? '')
}

export function actorOf(request: FastifyRequest): Actor {
  const credential = credentialOf(request)
  const origin = originOf(request)
  switch (credential.kind) {
    case 'key':
      return { ...origin, name: `key:${credential.key.keyId}` }
    case 'user':
      return userActor(credential.session.userId, origin)
    case 'service':
      return { ...origin, name: serviceActorName }
  }
}

export function originOf(request: FastifyRequest): ActorOrigin {
  return {
    operation: `${request.method} ${request.routeOptions.url ?? ''}`,
    requestId: request.id,
    ip: request.ip,
  }
}

function scopeOfMethod(method: string): KeyScope {
  return method === 'GET' || method === 'HEAD' ? 'read' : 'manage'
}

/** Whether the key opens anything: it is neither revoked nor expired. */
export function isUsable(key: ApiKey, nowMs: number): boolean {
  return key.revokedAt === null && (key.expiresAt === null || key.expiresAt.getTime() > nowMs)
}

/** Counts where the Authorization header is missing or empty: of two credentials the one of the standard header is meant. */
function apiKeyHeader({ headers }: FastifyRequest): string | undefined {
  const { authorization, 'x-api-key': key } = headers
  return !authorization && typeof key === 'string' ? key.trim() : undefined
}

export function bearerToken({ headers }: FastifyRequest): string | undefined {
  const { authorization } = headers
  return authorization === undefined ? undefined : secretKeyOf(authorization)
}

/** Guards a route that only other services call. Callers without the secret get the answer of a route that does not exist. */
export function hiddenUnless(secret: string): onRequestHookHandler {
  return (request, _reply, done) => {
    if (isSecret(secret, bearerToken(request) ?? '')) done()
    else done(refusals.routeNotFound(request.method, request.url))
  }
}
