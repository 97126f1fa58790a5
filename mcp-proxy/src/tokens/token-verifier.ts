import { createHash } from 'node:crypto'
import { Recent } from '@tollgate/platform/memory/recent'
import type { Clock } from '@tollgate/platform/clock/clock'
import { decodeProtectedHeader, jwtVerify, type JWTPayload } from 'jose'
import type { FreshCache } from '../servers/fresh-cache.ts'
import type { ServedServer } from '../servers/served-server.ts'
import { keyName, type TokenAuthority } from './token-authority.ts'

export type Verified = { readonly customerRef: string; readonly tokenId: string }

type Remembered = Verified & { readonly expiresAtMs: number; readonly keyName: string }

/** Tokens whose signature is not checked again. */
const rememberedMax = 20_000
/** Milliseconds between two readings of keys for the sake of tokens with a key that is not known. */
const unknownKeyPauseMs = 500

/**
 * Verifies access tokens of customers: JWT of type `at+jwt`, signed with ES256 by a key of the server's provider, with the
 * server's issuer and its address as the only audience. Signatures are checked once per token and server; expiry, revocation
 * and whether the key still counts are checked on each call.
 */
export class TokenVerifier {
  readonly #authorities: FreshCache<TokenAuthority>
  readonly #clock: Clock
  readonly #remembered = new Recent<Remembered>(rememberedMax)
  #rereadAt = -Infinity

  constructor(authorities: FreshCache<TokenAuthority>, clock: Clock) {
    this.#authorities = authorities
    this.#clock = clock
  }

  /** Returns undefined for a token that does not count here. Rejects while keys cannot be read. */
  async verify(token: string, server: ServedServer): Promise<Verified | undefined> {
    const authority = await this.#authorities.get(server.environment)
    const digest = createHash('sha256').update(`${server.proxyUrl} ${token}`).digest('base64')
    const known = this.#remembered.get(digest)
    const found = known ?? (await this.#check(token, server, authority, digest))
    if (found === undefined || authority.revoked.has(found.tokenId)) return undefined
    // A key that was just found may be newer than what was read before.
    if (known !== undefined && !authority.keys.has(found.keyName)) return undefined
    if (found.expiresAtMs <= this.#clock.now()) return undefined
    return found
  }

  async #check(
    token: string,
    server: ServedServer,
    authority: TokenAuthority,
    digest: string,
  ): Promise<Remembered | undefined> {
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

  /** A key may be newer than what was read last. Anybody can name one that does not exist, so it is not read each time. */
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

/** A token for several audiences could be passed on by one of them to another. */
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
