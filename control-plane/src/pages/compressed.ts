import { gzipSync } from 'node:zlib'
import type { FastifyReply, FastifyRequest } from 'fastify'
import Negotiator from 'negotiator'

/** A text with its compressed form, for texts that are sent often. */
export type Compressed = { readonly text: string; readonly gzipped: Buffer }

export function compressed(text: string): Compressed {
  return { text, gzipped: gzipSync(text) }
}

/** Sends the text, compressed for clients that accept gzip. */
export function sendCompressed(
  request: FastifyRequest,
  reply: FastifyReply,
  { text, gzipped }: Compressed,
): FastifyReply {
  const [encoding] = new Negotiator(request.raw).encodings(['gzip', 'identity'])
  void reply.header('vary', 'accept-encoding')
  if (encoding !== 'gzip') return reply.send(text)
  return reply.header('content-encoding', 'gzip').send(gzipped)
}
