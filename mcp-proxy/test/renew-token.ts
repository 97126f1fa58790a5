import { randomUUID } from 'node:crypto'
import { tokenKeyPlace } from '@tollgate/domain/customer-auth/token-keys'
import type { Queryable } from '@tollgate/platform/database/database'
import type { SecretBox } from '@tollgate/platform/secrets/secret-box'
import { decodeJwt, decodeProtectedHeader, importJWK, SignJWT, type JWK } from 'jose'

/**
 * Returns the token as the authorization server would issue it at a given time. The server itself only uses the time of the
 * machine, not that of the test's clock.
 */
export async function renewToken(
  sql: Queryable,
  secrets: SecretBox,
  token: string,
  nowMs: number,
): Promise<string> {
  const { kid = '' } = decodeProtectedHeader(token)
  const [row] = await sql<{ provider_id: string; private_jwk: string }[]>`
    select provider_id, private_jwk from oauth_signing_keys where kid = ${kid}`
  const { provider_id: providerId, private_jwk: sealed } = row!
  const jwk = JSON.parse(secrets.open(sealed, tokenKeyPlace(providerId))) as JWK
  const iat = Math.floor(nowMs / 1000)
  const claims = { ...decodeJwt(token), jti: randomUUID(), iat, exp: iat + 3_600 }
  return new SignJWT(claims)
    .setProtectedHeader({ alg: 'ES256', typ: 'at+jwt', kid })
    .sign(await importJWK(jwk, 'ES256'))
}
