import { hash } from 'node:crypto'
import type { Environment } from './environment.ts'
import { referencePrefixes } from './references.ts'

/* The reference of a usage record has 128 bits in 26 characters of Crockford's base32. */

/**
 * Returns the reference of a record with an idempotency key. It depends only on the scope of the key, so a retry gets the reference
 * of the first call on any node without a look-up. Lengths delimit the parts, because each part may contain any separator.
 */
export function keyedUsageReference(
  environment: Environment,
  providerId: string,
  customerRef: string,
  idempotencyKey: string,
): string {
  const scope =
    `${environment.length}:${environment}${providerId.length}:${providerId}` +
    `${customerRef.length}:${customerRef}${idempotencyKey.length}:${idempotencyKey}`
  return usageReferenceOfScope(scope)
}

/** Returns the reference that a hash of the text has. No two kinds of records may have scopes in common. */
export function usageReferenceOfScope(scope: string): string {
  // The digest is text, because creating a Buffer for it costs three times the hash itself.
  const digest = hash('sha256', scope, 'binary')
  for (let index = 0; index < scratch.length; index++) scratch[index] = digest.charCodeAt(index)
  return base32After(referencePrefixes.usage, scratch)
}

/** Bytes of `entropy` that one random reference uses. */
export const usageReferenceEntropyBytes = 10

const timeBytes = 6

/**
 * Returns the reference of a record without an idempotency key: its time in milliseconds and 80 random bits, so that references
 * sort by time. Uses 10 bytes of `entropy` from `at` on. No byte may be used twice.
 */
export function randomUsageReference(nowMs: number, entropy: Uint8Array, at = 0): string {
  return timeOrderedReference(referencePrefixes.usage, nowMs, entropy, at)
}

/** Returns a reference that starts with its time, followed by 10 bytes of `tail` from `at` on. */
export function timeOrderedReference(
  prefix: string,
  nowMs: number,
  tail: Uint8Array,
  at = 0,
): string {
  const low = nowMs % 2 ** 32
  const high = (nowMs - low) / 2 ** 32
  scratch[0] = high >>> 8
  scratch[1] = high
  scratch[2] = low >>> 24
  scratch[3] = low >>> 16
  scratch[4] = low >>> 8
  scratch[5] = low
  for (let index = 0; index < usageReferenceEntropyBytes; index++) {
    scratch[timeBytes + index] = tail[at + index]!
  }
  return base32After(prefix, scratch)
}

/** The array can be reused, because no other code runs between writing and reading it. */
const scratch = new Uint8Array(16)

const alphabet = '0123456789ABCDEFGHJKMNPQRSTVWXYZ'

/** Pairs of characters, indexed by 10 bits. */
const pairs = Array.from(
  { length: 1024 },
  (_, index) => alphabet[index >> 5]! + alphabet[index & 31]!,
)

/** Returns the prefix and 16 bytes as 26 characters. Two zero bits in front make text order equal byte order. */
export function base32After(prefix: string, bytes: Uint8Array): string {
  let text = prefix
  let bits = 0
  let held = 2
  for (let index = 0; index < 16; index++) {
    bits = (bits << 8) | bytes[index]!
    held += 8
    if (held >= 10) {
      held -= 10
      text += pairs[(bits >> held) & 1023]!
      bits &= (1 << held) - 1
    }
  }
  return text
}
