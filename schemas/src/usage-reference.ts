import { hash } from 'node:crypto'
import type { Environment } from './environment.ts'
import { referencePrefixes } from './references.ts'

/*
 * The reference of a usage record: 128 bits in 26 characters of Crockford's base32.
 */

/**
 * The reference of a record that came with an idempotency key. It is a function of what the key is scoped to, so a
 * retry gets the reference of the first call on any node, without a look-up. Each part's length stands before it,
 * since no part is free of any separator.
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
  // As text, because making a Buffer of the digest costs three times the hash itself.
  const digest = hash('sha256', scope, 'binary')
  for (let index = 0; index < scratch.length; index++) scratch[index] = digest.charCodeAt(index)
  return base32After(referencePrefixes.usage, scratch)
}

/** Random bytes that one random reference takes from `entropy`. */
export const usageReferenceEntropyBytes = 10

const timeBytes = 6

/**
 * The reference of a record without an idempotency key: its time in milliseconds, then 80 random bits, so references
 * sort by time. Takes 10 bytes of `entropy` from `at` on; no byte may be used twice.
 */
export function randomUsageReference(nowMs: number, entropy: Uint8Array, at = 0): string {
  return timeOrderedReference(referencePrefixes.usage, nowMs, entropy, at)
}

/** Such a reference of anything: it has 10 bytes of `tail`, from `at` on, behind its time. */
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

/** Reused: nothing runs between its filling and its reading. */
const scratch = new Uint8Array(16)

const alphabet = '0123456789ABCDEFGHJKMNPQRSTVWXYZ'

/** Two characters at once: ten bits. */
const pairs = Array.from(
  { length: 1024 },
  (_, index) => alphabet[index >> 5]! + alphabet[index & 31]!,
)

/** 16 bytes as 26 characters behind the prefix, two zero bits in front, so that text order is byte order. */
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
