import { isUtf8 } from 'node:buffer'
import type { IncomingHttpHeaders } from 'node:http'
import { refusals } from '../../errors.ts'
import type { ApiServer } from '../../access/api-server.ts'

/** Content type that `fetch` sends for a text body if the client sets none. */
const plainText = 'text/plain'

/**
 * Parses JSON bodies. Clients send `application/json` on every request, also without a body, so an empty body counts as no body. A
 * text body without a content type is JSON, as in the data plane. A malformed body is refused with the texts of the data plane. A
 * key that could reach a prototype is refused as well.
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
    // Decoding would replace invalid UTF-8, and the replacement would be stored as if the client had sent it.
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

/** Returns whether the text is valid JSON. Fastify's parser reports the same error for malformed JSON and for unsafe keys. */
function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}
