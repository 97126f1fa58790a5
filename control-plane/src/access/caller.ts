import type { FastifyRequest } from 'fastify'
import type { PlacedApiKey } from '@tollgate/domain/api-keys/repository'
import { secretKeyOf } from '@tollgate/domain/api-keys/secret-key'
import { serviceActorName, type ServiceKeyHolder } from '@tollgate/domain/api-keys/service-key'
import { userActor, type Actor, type ActorOrigin } from '@tollgate/domain/audit/actor'
import type { ConsoleSession } from '@tollgate/domain/console/access-tokens'
import type { Operation } from '@tollgate/domain/unit-of-work/unit-of-work'
import type { Clock } from '@tollgate/platform/clock/clock'
import type { Environment } from '@tollgate/schemas/environment'
import { idempotencyKeyCharsMax } from '@tollgate/schemas/limits'
import { refusals } from '../errors.ts'

/** The provider that a request acts for, in the environment of its key or access token. */
export type Caller = {
  readonly providerId: string
  readonly environment: Environment
}

/** The credential with which a request was authenticated. */
export type Credential =
  | { readonly kind: 'key'; readonly key: PlacedApiKey }
  | { readonly kind: 'user'; readonly session: ConsoleSession }
  /** Another service of the installation, acting for a provider. */
  | { readonly kind: 'service'; readonly service: ServiceKeyHolder & { isMisplaced: boolean } }

declare module 'fastify' {
  interface FastifyRequest {
    /** Set by the authentication hook. Read it through `callerOf`, `credentialOf` or a function beside them. */
    credential: Credential | null
  }
}

export function holderOf(credential: Credential): Caller & { readonly isMisplaced: boolean } {
  switch (credential.kind) {
    case 'key':
      return credential.key
    case 'user':
      return credential.session
    case 'service':
      return credential.service
  }
}

export function credentialOf(request: FastifyRequest): Credential {
  if (request.credential === null) {
    throw new Error(`${request.url} is served without authentication`)
  }
  return request.credential
}

/** Returns the secret key of a request. Refuses requests of users and services. */
export function apiKeyOf(request: FastifyRequest): PlacedApiKey {
  const credential = credentialOf(request)
  if (credential.kind !== 'key') throw refusals.badKey('malformed_key')
  return credential.key
}

/** Returns the session of a signed-in user. Refuses keys: a key of one environment must not act as a user of both. */
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
 * Returns the idempotency key of the header, or null if the header is empty or missing. The maximum length is that of the body
 * field of usage records, and only printable ASCII is allowed, which every HTTP server reads alike. The key is checked on every
 * request that may change something, because the events of the request store it.
 */
function idempotencyKeyOf({ headers }: FastifyRequest): string | null {
  const key = headers['idempotency-key']
  if (typeof key !== 'string' || key === '') return null
  if (key.length > idempotencyKeyCharsMax || !/^[\x20-\x7e]+$/.test(key)) {
    throw refusals.idempotencyKeyInvalid(idempotencyKeyCharsMax)
  }
  return key
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

export function bearerToken({ headers }: FastifyRequest): string | undefined {
  const { authorization } = headers
  return authorization === undefined ? undefined : secretKeyOf(authorization)
}
