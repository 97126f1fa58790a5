import { decodeJwt } from 'jose'
import { revokeGrant, revokeGrantOfToken } from '@tollgate/domain/customer-auth/access-tokens'
import { errorResponse, jsonResponse } from './responses.ts'
import { clientCredentialsOf } from './client-credentials.ts'
import type { Issuer } from './issuers.ts'
import type { AuthResponse, AuthRequest } from './run-provider.ts'
import { isJwt, verifyAccessToken } from './verify-access-token.ts'

/**
 * Revokes a token (RFC 7009). A refresh token ends its grant, with all other refresh tokens and access tokens of the grant. An
 * access token does the same. An unknown token is not an error, because it grants no access.
 */
export async function revoke(
  issuer: Issuer,
  headers: AuthRequest['headers'],
  form: URLSearchParams,
): Promise<AuthResponse> {
  const fault = requestFault(headers, form)
  if (fault !== undefined) return errorResponse(400, 'invalid_request', fault)
  const clientId = await authenticate(issuer, headers, form)
  if (clientId === undefined) {
    return errorResponse(401, 'invalid_client', 'Client authentication failed.', {
      'www-authenticate': 'Basic realm="token revocation"',
    })
  }
  const token = form.get('token')
  if (token === null || token === '') {
    return errorResponse(400, 'invalid_request', '`token` is missing.')
  }
  const isOwn = isJwt(token)
    ? await revokeAccessToken(issuer, token, clientId)
    : await revokeRefreshToken(issuer, token, clientId)
  if (!isOwn) {
    return errorResponse(400, 'invalid_grant', 'The token was issued to another client.')
  }
  return jsonResponse(200, { revoked: true, message: 'The token is no longer valid.' })
}

/**
 * Returns what is malformed in the request. RFC 6749, sections 2.3 and 3.2: one authentication method, and each parameter at most
 * once.
 */
function requestFault(headers: AuthRequest['headers'], form: URLSearchParams): string | undefined {
  if (headers['authorization'] !== undefined && form.has('client_secret')) {
    return 'Authenticate the client by the header or by the form, not by both.'
  }
  const names = [...form.keys()]
  return new Set(names).size < names.length ? 'A parameter is given twice.' : undefined
}

/** Returns the id of the authenticated client, or undefined. A client without a secret only names itself. */
async function authenticate(
  { provider }: Issuer,
  headers: AuthRequest['headers'],
  form: URLSearchParams,
): Promise<string | undefined> {
  const given = clientCredentialsOf(headers, form)
  if (given === undefined) return undefined
  const client = await provider.Client.find(given.clientId).catch(() => undefined)
  if (client === undefined) return undefined
  if (client.clientAuthMethod === 'none') {
    return given.secret === undefined ? client.clientId : undefined
  }
  const { secret } = given
  if (secret === undefined) return undefined
  return (await client.compareClientSecret(secret)) ? client.clientId : undefined
}

async function revokeAccessToken(issuer: Issuer, token: string, clientId: string) {
  const verified = await verifyAccessToken(issuer, token)
  if (verified === undefined) return !namesOtherClient(token, clientId)
  if (verified.clientId !== clientId) return false
  const { rows, place, now } = issuer.store
  await rows.write((sql) => revokeGrantOfToken(sql, place.providerId, verified.jti, now()))
  return true
}

/** Returns whether a token that failed verification names another client. */
function namesOtherClient(token: string, clientId: string): boolean {
  try {
    const { client_id: other } = decodeJwt(token)
    return other !== undefined && other !== clientId
  } catch {
    return false
  }
}

async function revokeRefreshToken(issuer: Issuer, token: string, clientId: string) {
  const { provider, store, address } = issuer
  const found = await provider.RefreshToken.find(token)
  if (found === undefined) return true
  if (found.clientId !== clientId) return false
  const { grantId } = found
  if (grantId === undefined) return true
  const grant = { issuer: address.issuer, grantId }
  await store.rows.write((sql) => revokeGrant(sql, store.place.providerId, grant, store.now()))
  return true
}
