/**
 * A subject is what usage is counted under: a provider and the customer reference exactly as the client gave it,
 * be it ours (`cus_...`) or the provider's own user id. A customer known by two references is two subjects; limit
 * checks add them up. The client's own text decides, so a retry meets its first attempt in the same partition even
 * when the two references were linked in between.
 *
 * The provider's length stands in front because neither part is free of any separator.
 */
export function subjectKey(providerId: string, customerRef: string): string {
  return `${providerId.length}:${providerId}${customerRef}`
}

/**
 * The log partition of a subject: Kafka's default partitioner (murmur2 over the UTF-8 key), so that any Kafka client
 * that keys records by subject agrees with us.
 */
export function partitionOf(subject: string, partitionCount: number): number {
  const length = copyAscii(subject)
  const hash = length < 0 ? murmur2(Buffer.from(subject, 'utf8')) : murmur2(ascii, length)
  return (hash & 0x7fffffff) % partitionCount
}

/** Reused: nothing runs between its filling and its reading. */
const ascii = new Uint8Array(256)

/** Spares nearly every subject the making of a buffer. Returns the length, or -1 when this is no short ASCII text. */
function copyAscii(text: string): number {
  if (text.length > ascii.length) return -1
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index)
    if (code > 127) return -1
    ascii[index] = code
  }
  return text.length
}

/** Kafka's murmur2 of the first `length` bytes, as a signed 32-bit integer. */
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
