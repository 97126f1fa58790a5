/**
 * Returns the subject that usage is counted under: a provider and the customer reference exactly as the client sent it, whether it
 * is a reference of Tollgate (`cus_...`) or the provider's own user id. A customer with two references has two subjects, and limit
 * checks sum them. Because the client's text decides, a retry is in the same partition as the first attempt even if the two
 * references were linked in between.
 *
 * The provider's length is in front, because both parts may contain any separator.
 */
export function subjectKey(providerId: string, customerRef: string): string {
  return `${providerId.length}:${providerId}${customerRef}`
}

/**
 * Returns the log partition of a subject by Kafka's default partitioner (murmur2 over the UTF-8 key), so that any Kafka client that
 * uses the subject as the key gets the same partition.
 */
export function partitionOf(subject: string, partitionCount: number): number {
  const length = copyAscii(subject)
  const hash = length < 0 ? murmur2(Buffer.from(subject, 'utf8')) : murmur2(ascii, length)
  return (hash & 0x7fffffff) % partitionCount
}

/** The array can be reused, because no other code runs between writing and reading it. */
const ascii = new Uint8Array(256)

/**
 * Copies the text without creating a buffer, which works for nearly every subject. Returns the length, or -1 if the text is not
 * short ASCII.
 */
function copyAscii(text: string): number {
  if (text.length > ascii.length) return -1
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index)
    if (code > 127) return -1
    ascii[index] = code
  }
  return text.length
}

/** Returns Kafka's murmur2 of the first `length` bytes, as a signed 32-bit integer. */
export function murmur2(data: Uint8Array, length = data.length): number {
  const multiplier = 0x5bd1e995
  let hash = 0x9747b28c ^ length
  const whole = length & ~3
  for (let at = 0; at < whole; at += 4) {
    let word = data[at]! | (data[at + 1]! << 8) | (data[at + 2]! << 16) | (data[at + 3]! << 24)
    word = Math.imul(word, multiplier)
    word ^= word >>> 24
    word = Math.imul(word, multiplier)
    hash = Math.imul(hash, multiplier) ^ word
  }
  const left = length & 3
  if (left === 3) hash ^= data[whole + 2]! << 16
  if (left >= 2) hash ^= data[whole + 1]! << 8
  if (left >= 1) hash = Math.imul(hash ^ data[whole]!, multiplier)
  hash ^= hash >>> 13
  hash = Math.imul(hash, multiplier)
  hash ^= hash >>> 15
  return hash
}
