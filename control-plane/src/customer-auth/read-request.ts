import type { FastifyReply, FastifyRequest } from 'fastify'
import type { ApiServer } from '../access/api-server.ts'
import { passedHeaders, type AuthResponse } from './run-provider.ts'

const bodyBytesMax = 64 * 1_024

/**
 * Makes the bodies of routes registered afterwards raw bytes, whatever their content type, because OAuth defines its own errors for
 * malformed bodies.
 */
export function parseBodiesAsBytes(app: ApiServer): void {
  app.removeAllContentTypeParsers()
  app.addContentTypeParser(
    '*',
    { parseAs: 'buffer', bodyLimit: bodyBytesMax },
    (_request, body, done) => {
      done(null, body)
    },
  )
}

export function headersOf(request: FastifyRequest): Record<string, string> {
  const headers: Record<string, string> = {}
  for (const name of [...passedHeaders, 'cookie']) {
    const value = request.headers[name]
    if (typeof value === 'string') headers[name] = value
  }
  return headers
}

export function queryOf({ url }: Pick<FastifyRequest, 'url'>): URLSearchParams {
  const [, ...query] = url.split('?')
  return new URLSearchParams(query.join('?'))
}

/** Reads a form in either encoding: urlencoded or multipart. */
export async function formOf(request: FastifyRequest): Promise<URLSearchParams> {
  const bytes = bytesOf(request)
  const type = request.headers['content-type'] ?? ''
  if (!type.startsWith('multipart/form-data')) return new URLSearchParams(bytes.toString('utf8'))
  const form = new URLSearchParams()
  try {
    const parsed = new Response(new Uint8Array(bytes), { headers: { 'content-type': type } })
    for (const [name, value] of await parsed.formData()) {
      if (typeof value === 'string') form.append(name, value)
    }
  } catch {
    // A malformed form counts as a form without fields. The endpoints refuse a missing field.
  }
  return form
}

/** Returns the parsed body, or undefined if the body is not JSON. */
export function jsonOf(request: FastifyRequest): unknown {
  try {
    return JSON.parse(bytesOf(request).toString('utf8'))
  } catch {
    return undefined
  }
}

function bytesOf({ body }: FastifyRequest): Buffer {
  return Buffer.isBuffer(body) ? body : Buffer.alloc(0)
}

export function sendAuthResponse(
  reply: FastifyReply,
  { status, headers, body }: AuthResponse,
): FastifyReply {
  return reply.code(status).headers(headers).send(body)
}
