import { createHash, timingSafeEqual } from 'node:crypto'
import type { Environment } from '@tollgate/schemas/environment'
import type { EntropySource } from '@tollgate/schemas/references'
import type { KeyFault } from '@tollgate/schemas/http/same-words'

/*
 * A secret key is `sk_sandbox_` or `sk_live_`, 32 random bytes as 43 characters of base62, and 6 characters of base62
 * that are the CRC-32 of everything before them. With the checksum, a scanner can distinguish a leaked key from random
 * text, and a mistyped key is refused without a lookup. The checksum proves nothing: only the stored SHA-256 does.
 */

const secretBytes = 32
const secretChars = 43
const checksumChars = 6

const issuedPrefixes: Readonly<Record<Environment, string>> = {
  sandbox: 'sk_sandbox_',
  live: 'sk_live_',
}

/** `sk_test_` and `sp_sandbox_` are older spellings that clients still use. */
const environmentOfPrefix: ReadonlyMap<string, Environment> = new Map([
  [issuedPrefixes.sandbox, 'sandbox'],
  [issuedPrefixes.live, 'live'],
  ['sk_test_', 'sandbox'],
  ['sp_sandbox_', 'sandbox'],
])

const secretKeyPattern = /^(s[kp]_[a-z]+_)([0-9A-Za-z]{43})([0-9A-Za-z]{6})$/

export function generateSecretKey(environment: Environment, entropy: EntropySource): string {
  const secret = BigInt(`0x${Buffer.from(entropy(secretBytes)).toString('hex')}`)
  const body = issuedPrefixes[environment] + base62(secret, secretChars)
  return body + checksumOf(body)
}

/** Returns the environment of a well-formed key, otherwise undefined. Does not check whether the key exists. */
export function environmentOfSecretKey(key: string): Environment | undefined {
  const match = secretKeyPattern.exec(key)
  if (match === null) return undefined
  const [, prefix, secret, checksum] = match as unknown as [string, string, string, string]
  const expected = checksumOf(prefix + secret)
  if (!timingSafeEqual(Buffer.from(expected), Buffer.from(checksum))) return undefined
  return environmentOfPrefix.get(prefix)
}

/** Returns the key of an Authorization header. Returns undefined if the header has no key or another scheme. */
export function secretKeyOf(authorization: string): string | undefined {
  return /^bearer +(\S+) *$/i.exec(authorization)?.[1]
}

/** Returns why an Authorization header is refused. `authorization` is '' if the request has no such header. */
export function faultOfAuthorization(authorization: string): KeyFault {
  if (/^(bearer)? *$/i.test(authorization)) return 'missing_key'
  const key = secretKeyOf(authorization)
  const isKey = key !== undefined && environmentOfSecretKey(key) !== undefined
  return isKey ? 'invalid_key' : 'malformed_key'
}

/** Returns the stored form of a key, in hex. A key has 256 random bits, so it needs no salt and no slow hash. */
export function sha256OfSecretKey(key: string): string {
  return createHash('sha256').update(key, 'utf8').digest('hex')
}

/** Returns the form of a key that may be shown after it was issued: `sk_live_...x7Qd`. */
export function displayOfSecretKey(key: string): string {
  const prefixEnd = key.indexOf('_', key.indexOf('_') + 1) + 1
  return `${key.slice(0, prefixEnd)}...${key.slice(-4)}`
}

const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'

function base62(value: bigint, chars: number): string {
  let text = ''
  for (let rest = value; text.length < chars; rest /= 62n) {
    text = alphabet[Number(rest % 62n)]! + text
  }
  return text
}

function checksumOf(text: string): string {
  return base62(BigInt(crc32(Buffer.from(text, 'latin1'))), checksumChars)
}

/** CRC-32 as in zlib and PNG. It works bit by bit, because keys are short and callers cache the result. */
function crc32(bytes: Uint8Array): number {
  let crc = 0xffffffff
  for (const byte of bytes) {
    crc ^= byte
    for (let bit = 0; bit < 8; bit++) crc = (crc >>> 1) ^ (crc & 1 ? 0xedb88320 : 0)
  }
  return ~crc >>> 0
}
