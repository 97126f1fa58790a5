import { createLocalJWKSet, errors, jwtVerify, type JSONWebKeySet, type JWTPayload } from 'jose'
import { isTokenActive } from '@tollgate/domain/customer-auth/access-tokens'
import type { Issuer } from './issuers.ts'

export type VerifiedToken = {
  readonly jti: string
  readonly customerRef: string
  readonly clientId: string
  readonly scopes: readonly string[]
  readonly expiresAt: Date
}

/** Verifies an access token. Returns undefined if this issuer did not sign the token, or if it has expired or was revoked. */
export async function verifyAccessToken(
  issuer: Issuer,
  token: string,
): Promise<VerifiedToken | undefined> {
  const payload = await verifySignature(issuer, token)
  if (payload === undefined) return undefined
  const { jti, sub, exp, client_id: clientId, scope } = payload
  if (jti === undefined || sub === undefined || exp === undefined) return undefined
  const { rows, place, now } = issuer.store
  const key = { jti, issuer: place.issuer }
  if (!(await rows.read((sql) => isTokenActive(sql, key, now())))) return undefined
  return {
    jti,
    customerRef: sub,
    clientId: String(clientId),
    scopes: typeof scope === 'string' ? scope.split(' ') : [],
    expiresAt: new Date(exp * 1_000),
  }
}

async function verifySignature(
  { keys, address, store }: Issuer,
  token: string,
): Promise<JWTPayload | undefined> {
  const publicKeys = keys.map(({ kty, crv, x, y, kid }) => ({ kty, crv, x, y, kid }))
  const keySet = createLocalJWKSet({ keys: publicKeys } as JSONWebKeySet)
  try {
    const { payload } = await jwtVerify(token, keySet, {
      algorithms: ['ES256'],
      typ: 'at+jwt',
      issuer: address.issuer,
      audience: address.proxyUrl,
      currentDate: store.now(),
    })
    return payload
  } catch (error) {
    if (error instanceof errors.JOSEError) return undefined
    throw error
  }
}

export function isJwt(token: string): boolean {
  return token.split('.').length === 3
}
