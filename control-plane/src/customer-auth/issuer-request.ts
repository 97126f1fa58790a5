import type { FastifyReply, FastifyRequest } from 'fastify'
import { countAuthAttempt, type AttemptKind } from '@tollgate/domain/customer-auth/attempts'
import { networkOf } from '@tollgate/platform/service/network-of'
import type { CustomerAuthParts as AppParts } from './customer-auth-parts.ts'
import { errorResponse, tooManyRequests } from './responses.ts'
import type { CustomerAuth } from './customer-auth.ts'
import { isDocumentStored } from './client-documents.ts'
import { authorize, register } from './endpoints.ts'
import type { Issuer } from './issuers.ts'
import { headersOf, jsonOf } from './read-request.ts'
import type { AuthResponse } from './run-provider.ts'

/** A request and the authorization server that it is for. */
export type IssuerRequest = {
  readonly parts: AppParts
  readonly auth: CustomerAuth
  readonly issuer: Issuer
  readonly request: FastifyRequest
}

/** Returns an error unless the body is a form. RFC 6749, section 4.1.3: parameters of the token endpoint are sent as a form. */
export function requireForm({ headers }: FastifyRequest): AuthResponse | undefined {
  const type = headers['content-type'] ?? ''
  if (/^application\/x-www-form-urlencoded\b/i.test(type)) return undefined
  const description = 'Send the parameters as application/x-www-form-urlencoded.'
  return errorResponse(400, 'invalid_request', description)
}

/**
 * Starts an authorization request, within the limit for the client's network. Each request stores a row until the sign-in ends. A
 * client that publishes its metadata registers itself with its first request, which fetches a document and stores it.
 */
export async function authorizeClient(
  served: IssuerRequest,
  parameters: URLSearchParams,
): Promise<AuthResponse> {
  const { issuer, request } = served
  if (!isNavigation(request)) {
    return errorResponse(400, 'invalid_request', 'Open this address in a window of the browser.')
  }
  const tooManyPage = await countAuthorization(served)
  if (tooManyPage !== undefined) return tooManyPage
  const clientId = parameters.get('client_id') ?? ''
  if (/^https:/i.test(clientId) && !(await isDocumentStored(issuer.store, clientId))) {
    const refused = await countRegistration(served)
    if (refused !== undefined) return refused
  }
  return authorize(issuer, parameters, headersOf(request))
}

/**
 * Returns whether the browser opens the address as a page. Otherwise any page could use up the limit of its visitor's network with
 * images that have this address. Old browsers do not send the header and are allowed.
 */
function isNavigation({ headers }: FastifyRequest): boolean {
  const destination = headers['sec-fetch-dest']
  return destination === undefined || destination === 'document'
}

export async function registerClient(served: IssuerRequest): Promise<AuthResponse> {
  const { auth, issuer, request } = served
  const refused = await countRegistration(served)
  return refused ?? register(issuer, jsonOf(request), headersOf(request), auth.policy)
}

/** Counts a registration. Returns the response for a network that has registered too many clients, otherwise undefined. */
async function countRegistration(served: IssuerRequest): Promise<AuthResponse | undefined> {
  const { registrationsPerAddressMax } = served.auth.config
  const waitMs = await countNetworkAttempt(served, 'register-address', registrationsPerAddressMax)
  return waitMs === undefined ? undefined : tooManyRequests(waitMs)
}

/** Counts a sign-in. Returns a page for people if too many sign-ins started from the same network, otherwise undefined. */
async function countAuthorization(served: IssuerRequest): Promise<AuthResponse | undefined> {
  const { auth, request } = served
  const { customerSignInsPerAddressMax } = auth.config
  const waitMs = await countNetworkAttempt(
    served,
    'authorize-address',
    customerSignInsPerAddressMax,
  )
  if (waitMs === undefined) return undefined
  const { html, headers } = auth.problemPage(request.headers['accept-language'], 'too-many')
  const { headers: refusal } = tooManyRequests(waitMs)
  return {
    status: 429,
    headers: { ...refusal, ...headers, 'content-type': 'text/html; charset=utf-8' },
    body: html,
  }
}

/** Counts the request for its network. If there were too many, returns how many milliseconds to wait. */
function countNetworkAttempt(
  { parts, auth, issuer, request }: IssuerRequest,
  kind: AttemptKind,
  max: number,
): Promise<number | undefined> {
  const now = new Date(parts.clock.now())
  const sql = parts.publisher.database.in(issuer.server.environment)
  const limit = { kind, max, windowMs: auth.config.codeWindowMinutes * 60_000 }
  return countAuthAttempt(sql, limit, networkOf(request.ip), now)
}

/**
 * Allows scripts of any origin to call the endpoints that read no cookie. The authorization endpoint is a page for people, so
 * scripts are not allowed there.
 */
export function allowCrossOrigin(reply: FastifyReply, endpoint: string): void {
  if (endpoint.startsWith('authorize')) return
  void reply
    .header('access-control-allow-origin', '*')
    .header('access-control-allow-methods', 'GET, POST, OPTIONS')
    .header('access-control-allow-headers', 'Authorization, Content-Type, MCP-Protocol-Version')
    .header('access-control-expose-headers', 'WWW-Authenticate')
    .header('access-control-max-age', '600')
}
