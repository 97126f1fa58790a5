import { hash } from 'node:crypto'

/*
 * A mark is stored under 128 bits of its id. If an id ends in 128 bits of Crockford's base32, those bits are decoded, because that
 * costs a tenth of a hash and a batch has thousands. The text before them is hashed once and mixed in, so that ids with different
 * prefixes stay distinct. Every other id is hashed as a whole.
 */
export const markIdBytes = 16

const base32Chars = 26
const none = 255

const values = new Uint8Array(128).fill(none)
for (const [value, char] of [...'0123456789ABCDEFGHJKMNPQRSTVWXYZ'].entries()) {
  values[char.charCodeAt(0)] = value
}

/** Prefix of the last id and its digest; the ids of a batch share their prefix. */
let knownBeginning = ''
let beginningDigest = digestOf(knownBeginning)

/** Writes the 16 bytes of the id into `into`, at position `at`. */
export function writeMarkId(id: string, into: Buffer, at: number): void {
  if (writeBase32(id, into, at)) {
    const bodyAt = id.length - base32Chars
    if (bodyAt !== knownBeginning.length || !id.startsWith(knownBeginning)) {
      knownBeginning = id.slice(0, bodyAt)
      beginningDigest = digestOf(knownBeginning)
    }
    for (let index = 0; index < markIdBytes; index++) into[at + index]! ^= beginningDigest[index]!
  } else {
    into.set(digestOf(id), at)
  }
}

function digestOf(text: string): Buffer {
  return hash('sha256', text, 'buffer').subarray(0, markIdBytes)
}

/** Returns false if the id does not end in base32 of 128 bits; the written bytes are then meaningless. */
function writeBase32(id: string, into: Buffer, at: number): boolean {
  const start = id.length - base32Chars
  // 26 characters hold 130 bits, so the first one may only use three.
  if (start < 0 || valueAt(id, start) > 7) return false
  let bits = 0
  let held = 0
  let seen = 0
  for (let index = start; index < id.length; index++) {
    const value = valueAt(id, index)
    seen |= value
    bits = (bits << 5) | value
    held += index === start ? 3 : 5
    if (held >= 8) {
      held -= 8
      into[at++] = bits >> held
      bits &= (1 << held) - 1
    }
  }
  return seen < 32
}

function valueAt(id: string, index: number): number {
  return values[id.charCodeAt(index)] ?? none
}
