import type { IncomingMessage } from 'node:http'

export type ReadBody =
  | { readonly kind: 'read'; readonly text: string }
  | { readonly kind: 'too-large' }
  /** The client went away. */
  | { readonly kind: 'aborted' }

/** Bytes that are read of a request that is refused, to find its id. */
export const refusedBodyBytesMax = 65_536

/** Reads a body of at most `bytesMax`. Of a larger one no more is read. */
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
