import { createHash } from 'node:crypto'

/*
 * Keys are byte strings: a key space byte, then parts. A text part is one length byte and its UTF-8, or, if that is longer than
 * partBytesMax, the byte 255 and its SHA-256. So every key is far below lmdb's limit (1978 bytes), parts are unambiguous, and keys
 * with the same first parts are neighbours.
 */
export const keySpaces = {
  document: 1,
  head: 2,
  subject: 3,
  entry: 4,
  counter: 5,
  slot: 6,
  mark: 7,
  markMinute: 8,
  windowEnd: 9,
  entriesVersion: 10,
  restoreAnswer: 11,
  openings: 12,
  bucket: 13,
  reservation: 20,
  reservationPlace: 21,
  reservationExpiry: 22,
  reservationEnd: 23,
} as const

const partBytesMax = 120
const hashedPart = 255

export function textPart(text: string): Buffer {
  const length = Buffer.byteLength(text, 'utf8')
  if (length > partBytesMax) {
    return Buffer.concat([
      Buffer.of(hashedPart),
      createHash('sha256').update(text, 'utf8').digest(),
    ])
  }
  const part = Buffer.allocUnsafe(1 + length)
  part[0] = length
  part.write(text, 1, 'utf8')
  return part
}

/** Returns the length in bytes of the text part at `at`. */
export function textPartBytes(key: Buffer, at: number): number {
  const length = key[at]!
  return length === hashedPart ? 33 : 1 + length
}

/** Encodes a time in big-endian, so that keys sort by it. The offset makes times before 1970 sort too. */
export function timePart(time: number): Buffer {
  const part = Buffer.allocUnsafe(6)
  part.writeUIntBE(Math.min(Math.max(time + 2 ** 47, 0), 2 ** 48 - 1), 0, 6)
  return part
}

export const timePartBytes = 6

export function readTimePart(key: Buffer, at: number): number {
  return key.readUIntBE(at, 6) - 2 ** 47
}

/** Returns the part of every key of one (space, partition), which follows the key space byte. */
export function partitionPart(space: string, partition: number): Buffer {
  const number = Buffer.allocUnsafe(2)
  number.writeUInt16BE(partition)
  return Buffer.concat([textPart(space), number])
}

export function hotKey(space: number, ...parts: readonly Buffer[]): Buffer {
  // Uses one allocation, because every limit check builds several keys.
  let length = 1
  for (const part of parts) length += part.length
  const key = Buffer.allocUnsafe(length)
  key[0] = space
  let at = 1
  for (const part of parts) {
    key.set(part, at)
    at += part.length
  }
  return key
}

/** Returns the first key after all keys that start with `prefix`. */
export function keyAfter(prefix: Buffer): Buffer {
  const after = Buffer.from(prefix)
  for (let at = after.length - 1; at >= 0; at -= 1) {
    if (after[at] === 255) continue
    after[at]! += 1
    return after.subarray(0, at + 1)
  }
  return Buffer.alloc(1978, 255)
}
