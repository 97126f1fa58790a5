import { findCustomer } from '@tollgate/domain/customers/repository'
import { errorResponse, jsonResponse } from './responses.ts'
import { claimsOf } from './claims.ts'
import type { Issuer } from './issuers.ts'
import type { AuthResponse, AuthRequest } from './run-provider.ts'
import { verifyAccessToken } from './verify-access-token.ts'

/** Returns the bearer token of the Authorization header. */
export function bearerOf(headers: AuthRequest['headers']): string | undefined {
  const [, token] = /^Bearer +(\S+)$/i.exec(headers['authorization'] ?? '') ?? []
  return token
}

/** Returns the claims about the customer of an access token that its scopes allow. */
export async function userinfo(
  issuer: Issuer | undefined,
  headers: AuthRequest['headers'],
): Promise<AuthResponse> {
  const token = bearerOf(headers)
  if (token === undefined) {
    return errorResponse(401, 'invalid_token', 'The access token is missing.', {
      // RFC 6750, section 3: a challenge has a parameter, and no error if the request has no token.
      'www-authenticate': 'Bearer realm="customers"',
    })
  }
  const verified = issuer && (await verifyAccessToken(issuer, token))
  if (issuer === undefined || verified === undefined) return invalidToken()
  const { rows, place } = issuer.store
  const customer = await rows.read((sql) =>
    findCustomer(sql, place.providerId, verified.customerRef),
  )
  if (customer === undefined) return invalidToken()
  const { sub, email, name } = claimsOf(customer)
  return jsonResponse(200, {
    sub,
    customerRef: sub,
    ...(verified.scopes.includes('email') && { email }),
    ...(verified.scopes.includes('profile') && name !== undefined && { name }),
  })
}

function invalidToken(): AuthResponse {
  const description = 'The access token expired, was revoked, or is of another issuer.'
  return errorResponse(401, 'invalid_token', description, {
    'www-authenticate': `Bearer error="invalid_token", error_description="${description}"`,
  })
}
