import { createHash } from 'node:crypto'

/**
 * The key under which a call counts once, made of a client's own key. It holds for one customer, product, route and body: a
 * client that sends one key with different calls has them all counted.
 */
export function callKeyOf(...parts: readonly string[]): string {
  const hash = createHash('sha256')
  for (const part of parts) hash.update(`${part.length}:${part}`)
  return `client-${hash.digest('base64url')}`
}

/** Stands for a body that a framework has parsed, or for the arguments of a tool. */
export function digestOfParsed(body: unknown): string {
  if (body === undefined || body === null) return ''
  const bytes = body instanceof Uint8Array ? body : jsonOf(body)
  return createHash('sha256').update(bytes).digest('base64url')
}

/** '' for what is no JSON, such as an upload that is still a stream. */
function jsonOf(body: unknown): string {
  try {
    return JSON.stringify(body) ?? ''
  } catch {
    return ''
  }
}

/** Bytes of a body that is read for its digest. What comes after them is not looked at, so that memory stays bounded. */
const digestedBytesMax = 1_048_576

/** Stands for the body of a request of the Fetch API, which stays readable. */
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
