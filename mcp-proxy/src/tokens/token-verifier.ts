import { createHash } from 'node:crypto'
import { Recent } from '@tollgate/platform/memory/recent'
import type { Clock } from '@tollgate/platform/clock/clock'
import { decodeProtectedHeader, jwtVerify, type JWTPayload } from 'jose'
import type { FreshCache } from '../servers/fresh-cache.ts'
import type { ServedServer } from '../servers/served-server.ts'
import { keyName, type TokenAuthority } from './token-authority.ts'

export type Verified = { readonly customerRef: string; readonly tokenId: string }

type CachedVerification = Verified & { readonly expiresAtMs: number; readonly keyName: string }

/** Maximum tokens whose verified signature is remembered. */
const cachedMax = 20_000
/** Minimum milliseconds between two reads of keys that are caused by tokens with an unknown key. */
const unknownKeyPauseMs = 500

/**
 * Verifies access tokens of customers: JWT of type `at+jwt`, signed with ES256 by a key of the server's provider, with the server's
 * issuer, and with the server's URL as the only audience. The signature is verified once per token and server. Expiry, revocation
 * and the validity of the key are checked on each call.
 */
export class TokenVerifier {
  readonly #authorities: FreshCache<TokenAuthority>
  readonly #clock: Clock
  readonly #remembered = new Recent<CachedVerification>(cachedMax)
  #rereadAt = -Infinity

  constructor(authorities: FreshCache<TokenAuthority>, clock: Clock) {
    this.#authorities = authorities
    this.#clock = clock
  }

  /** Returns undefined for a token that is not valid for this server. Rejects if the keys cannot be read. */
  async verify(token: string, server: ServedServer): Promise<Verified | undefined> {
    const authority = await this.#authorities.get(server.environment)
    const digest = createHash('sha256').update(`${server.proxyUrl} ${token}`).digest('base64')
    const known = this.#remembered.get(digest)
    const found = known ?? (await this.#check(token, server, authority, digest))
    if (found === undefined || authority.revoked.has(found.tokenId)) return undefined
    // The key of a token checked just now may be newer than `authority`, so only remembered tokens are checked.
    if (known !== undefined && !authority.keys.has(found.keyName)) return undefined
    if (found.expiresAtMs <= this.#clock.now()) return undefined
    return found
  }

  async #check(
    token: string,
    server: ServedServer,
    authority: TokenAuthority,
    digest: string,
  ): Promise<CachedVerification | undefined> {
    const name = keyName(server.providerId, kidOf(token))
    const key = authority.keys.get(name) ?? (await this.#keyAfterReread(server, name))
    if (key === undefined) return undefined
    const payload = await jwtVerify(token, key, {
      algorithms: ['ES256'],
      typ: 'at+jwt',
      issuer: server.issuer,
      audience: server.proxyUrl,
      requiredClaims: ['exp', 'sub', 'jti', 'customerRef'],
      currentDate: new Date(this.#clock.now()),
    }).then(
      (verified) => verified.payload,
      () => undefined,
    )
    const verified = payload && readClaims(payload, server)
    if (verified === undefined) return undefined
    const remembered = { ...verified, keyName: name }
    this.#remembered.set(digest, remembered)
    return remembered
  }

  /**
   * Reads the keys again, because the key may be newer than the last read. Callers can send arbitrary key ids, so reads are
   * rate-limited.
   */
  async #keyAfterReread({ environment }: ServedServer, name: string) {
    const now = this.#clock.now()
    if (now - this.#rereadAt < unknownKeyPauseMs) return undefined
    this.#rereadAt = now
    return (await this.#authorities.refresh(environment)).keys.get(name)
  }
}

function kidOf(token: string): string {
  try {
    return decodeProtectedHeader(token).kid ?? ''
  } catch {
    return ''
  }
}

/**
 * Returns the claims of a token, or undefined if they are invalid. A token with several audiences is refused: one audience could
 * use it at another.
 */
function readClaims(
  payload: JWTPayload,
  server: ServedServer,
): (Verified & { readonly expiresAtMs: number }) | undefined {
  const { aud, sub, jti, exp } = payload
  const customerRef = payload['customerRef']
  if ([aud].flat().length !== 1 || [aud].flat()[0] !== server.proxyUrl) return undefined
  if (typeof sub !== 'string' || sub === '' || customerRef !== sub) return undefined
  if (typeof jti !== 'string' || typeof exp !== 'number') return undefined
  return { customerRef: sub, tokenId: jti, expiresAtMs: exp * 1_000 }
}
