import type { FastifyReply } from 'fastify'
import type { RenderedDocument } from './render-invoice.ts'

/**
 * Sends the document. Browsers show it and save it under its number. The name consists of letters, digits, `-` and `_`, so it needs
 * no encoding by RFC 6266.
 */
export function sendDocument(
  reply: FastifyReply,
  { fileName, pdf }: RenderedDocument,
): FastifyReply {
  return reply
    .type('application/pdf')
    .header('content-disposition', `inline; filename="${fileName}"`)
    .header('cache-control', 'private, no-store')
    .header('x-content-type-options', 'nosniff')
    .send(pdf)
}
