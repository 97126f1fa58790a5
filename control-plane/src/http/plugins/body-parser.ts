import type { ApiServer } from '../api-server.ts'

/**
 * Clients name `application/json` on every call, also on those without a body: an empty body is no body.
 * A key that could reach a prototype is refused with 400.
 */
export function installBodyParser(app: ApiServer): void {
  const parse = app.getDefaultJsonParser('error', 'error')
  app.removeContentTypeParser('application/json')
  app.addContentTypeParser<string>(
    'application/json',
    { parseAs: 'string' },
    (request, body, done) => {
      if (body === '') return done(null, undefined)
      void parse(request, body, done)
    },
  )
}
