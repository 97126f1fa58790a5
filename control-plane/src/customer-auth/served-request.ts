import type { FastifyReply, FastifyRequest } from 'fastify'
import { countAuthAttempt } from '@tollgate/domain/customer-auth/attempts'
import { networkOf } from '@tollgate/platform/service/network-of'
import type { CustomerAuthParts as AppParts } from './customer-auth-parts.ts'
import { errorAnswer, tooManyRequests } from './answers.ts'
import type { CustomerAuth } from './customer-auth.ts'
import { isDocumentStored } from './client-documents.ts'
import { authorize, register } from './endpoints.ts'
import type { Issuer } from './issuers.ts'
import { headersOf, jsonOf } from './read-request.ts'
import type { AuthAnswer } from './run-provider.ts'

/** A request, and the server that it is for. */
export type Served = {
  readonly parts: AppParts
  readonly auth: CustomerAuth
  readonly issuer: Issuer
  readonly request: FastifyRequest
}

/** RFC 6749, section 4.1.3: parameters of the token endpoint come in a form. */
export function requireForm({ headers }: FastifyRequest): AuthAnswer | undefined {
  const type = headers['content-type'] ?? ''
  if (/^application\/x-www-form-urlencoded\b/i.test(type)) return undefined
  const description = 'Send the parameters as application/x-www-form-urlencoded.'
  return errorAnswer(400, 'invalid_request', description)
}

/** A client that publishes its metadata registers itself by its first request, which fetches a document and stores it. */
export async function authorizeClient(
  served: Served,
  parameters: URLSearchParams,
): Promise<AuthAnswer> {
  const { issuer, request } = served
  const clientId = parameters.get('client_id') ?? ''
  if (/^https:/i.test(clientId) && !(await isDocumentStored(issuer.store, clientId))) {
    const refused = await countRegistration(served)
    if (refused !== undefined) return refused
  }
  return authorize(issuer, parameters, headersOf(request))
}

export async function registerClient(served: Served): Promise<AuthAnswer> {
  const { auth, issuer, request } = served
  const refused = await countRegistration(served)
  return refused ?? register(issuer, jsonOf(request), headersOf(request), auth.policy)
}

/** Returns the answer to a network that has registered too many. */
async function countRegistration({
  parts,
  auth,
  issuer,
  request,
}: Served): Promise<AuthAnswer | undefined> {
  const now = new Date(parts.clock.now())
  const sql = parts.publisher.database.in(issuer.server.environment)
  const { registrationsPerAddressMax: max, codeWindowMinutes } = auth.config
  const limit = { kind: 'register-address', max, windowMs: codeWindowMinutes * 60_000 } as const
  const waitMs = await countAuthAttempt(sql, limit, networkOf(request.ip), now)
  return waitMs === undefined ? undefined : tooManyRequests(waitMs)
}

/** Scripts of any page may call what takes no cookie. The page where people are sent is not for scripts. */
export function allowBrowsers(reply: FastifyReply, endpoint: string): void {
  if (endpoint.startsWith('authorize')) return
  void reply
    .header('access-control-allow-origin', '*')
    .header('access-control-allow-methods', 'GET, POST, OPTIONS')
    .header('access-control-allow-headers', 'Authorization, Content-Type, MCP-Protocol-Version')
    .header('access-control-expose-headers', 'WWW-Authenticate')
    .header('access-control-max-age', '600')
}
