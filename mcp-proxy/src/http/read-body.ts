import type { IncomingMessage } from 'node:http'

export type ReadBody =
  | { readonly kind: 'read'; readonly text: string }
  | { readonly kind: 'too-large' }
  /** The client disconnected. */
  | { readonly kind: 'aborted' }

/** Bytes of a refused request that are read to find its id. */
export const refusedBodyBytesMax = 65_536

/** Reads a body of at most `bytesMax` bytes. Stops reading as soon as the body is larger. */
export async function readBody(request: IncomingMessage, bytesMax: number): Promise<ReadBody> {
  const announced = Number(request.headers['content-length'] ?? 0)
  if (announced > bytesMax) return { kind: 'too-large' }
  const chunks: Buffer[] = []
  let bytes = 0
  try {
    for await (const chunk of request as AsyncIterable<Buffer>) {
      bytes += chunk.byteLength
      if (bytes > bytesMax) return { kind: 'too-large' }
      chunks.push(chunk)
    }
  } catch {
    return { kind: 'aborted' }
  }
  return { kind: 'read', text: Buffer.concat(chunks).toString('utf8') }
}
