import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'

/** The prefix tells an access token from a secret key, to us and to scanners for leaked secrets. */
const accessTokenPrefix = 'tgc_'

const tokenBytes = 32

export function drawAccessToken(): string {
  return accessTokenPrefix + drawToken()
}

export function isAccessToken(text: string): boolean {
  return text.startsWith(accessTokenPrefix)
}

/** 256 random bits in base64url. */
export function drawToken(): string {
  return randomBytes(tokenBytes).toString('base64url')
}

/** What is stored of a token, in hex. It is random throughout, so no salt and no slow hash is called for. */
export function sha256OfToken(token: string): string {
  return createHash('sha256').update(token, 'utf8').digest('hex')
}

/** Whether the token is the one that was stored. Takes the same time whatever it is. */
export function isTokenOf(sha256: string, token: string): boolean {
  return timingSafeEqual(Buffer.from(sha256, 'hex'), Buffer.from(sha256OfToken(token), 'hex'))
}
