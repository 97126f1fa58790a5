import { isUtf8 } from 'node:buffer'
import type { IncomingHttpHeaders } from 'node:http'
import { refusals } from '../../errors.ts'
import type { ApiServer } from '../../access/api-server.ts'

/** The content type that `fetch` sends for a text if its client names none. */
const plainText = 'text/plain'

/**
 * Clients name `application/json` on every call, also on those without a body: an empty body is no body. A text without a
 * type is JSON, as in the data plane. What cannot be read is refused in the words of the data plane. A key that could
 * reach a prototype is refused, too.
 */
export function installBodyParser(app: ApiServer): void {
  const parse = app.getDefaultJsonParser('error', 'error')
  app.addHook('onRequest', ({ raw: { headers } }, _reply, done) => {
    if (hasBody(headers)) headers['content-type'] ??= plainText
    done()
  })
  const types = ['application/json', plainText]
  app.removeContentTypeParser(types)
  app.addContentTypeParser<Buffer>(types, { parseAs: 'buffer' }, (request, body, done) => {
    if (body.byteLength === 0) return done(null, undefined)
    // Decoding replaces what is no UTF-8, and the replacement would be stored as if the client had sent it.
    if (!isUtf8(body)) return done(refusals.badBody('invalid_utf8'))
    const text = body.toString('utf8')
    void parse(request, text, (error, value) => {
      if (error === null) return done(null, value)
      done(isJson(text) ? refusals.unsafeJson() : refusals.badBody('invalid_json'))
    })
  })
}

function hasBody(headers: IncomingHttpHeaders): boolean {
  const length = headers['content-length'] ?? '0'
  return length !== '0' || headers['transfer-encoding'] !== undefined
}

/** Fastify's parser has the same error for keys that are unsafe. */
function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}
