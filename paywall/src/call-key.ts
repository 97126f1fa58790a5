import { createHash } from 'node:crypto'

/**
 * Derives the idempotency key of a call from the client's own key. It covers customer, product, route and body, so that different
 * calls with the same client key are counted separately.
 */
export function callKeyOf(...parts: readonly string[]): string {
  const hash = createHash('sha256')
  for (const part of parts) hash.update(`${part.length}:${part}`)
  return `client-${hash.digest('base64url')}`
}

/** Returns a digest of a parsed body or of the arguments of a tool; '' if there is none. */
export function digestOfParsed(body: unknown): string {
  if (body === undefined || body === null) return ''
  const bytes = body instanceof Uint8Array ? body : jsonOf(body)
  return createHash('sha256').update(bytes).digest('base64url')
}

/** Returns '' if the body cannot be written as JSON, such as an upload that is still a stream. */
function jsonOf(body: unknown): string {
  try {
    return JSON.stringify(body) ?? ''
  } catch {
    return ''
  }
}

/** Maximum bytes of a body that are read for its digest, so that memory stays bounded. */
const digestedBytesMax = 1_048_576

/** Returns a digest of a body of the Fetch API. Pass a clone: the stream is consumed. */
export async function digestOfStream(body: ReadableStream<Uint8Array> | null): Promise<string> {
  if (body === null) return ''
  const hash = createHash('sha256')
  let bytes = 0
  for await (const chunk of body) {
    hash.update(chunk.subarray(0, digestedBytesMax - bytes))
    bytes += chunk.byteLength
    if (bytes >= digestedBytesMax) break
  }
  return hash.digest('base64url')
}
