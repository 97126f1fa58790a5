import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'

/**
 * The prefix distinguishes access tokens from secret keys, for this service and for scanners that look for leaked
 * secrets.
 */
const accessTokenPrefix = 'tgc_'

const tokenBytes = 32

export function generateAccessToken(): string {
  return accessTokenPrefix + generateToken()
}

export function isAccessToken(text: string): boolean {
  return text.startsWith(accessTokenPrefix)
}

/** Returns 256 random bits in base64url. */
export function generateToken(): string {
  return randomBytes(tokenBytes).toString('base64url')
}

/** Returns the stored form of a token, in hex. A token is random, so it needs no salt and no slow hash. */
export function sha256OfToken(token: string): string {
  return createHash('sha256').update(token, 'utf8').digest('hex')
}

/** Returns whether the token has this hash. The time does not depend on the token. */
export function isTokenOf(sha256: string, token: string): boolean {
  return timingSafeEqual(Buffer.from(sha256, 'hex'), Buffer.from(sha256OfToken(token), 'hex'))
}
