import type { FastifyInstance, FastifyRequest } from 'fastify'
import { parseForm, type Form } from '../api/read-parameters.ts'
import { stylesheet } from '../pages/html.ts'
import {
  answerAuthentication,
  showAuthentication,
  showCardForm,
  submitCardForm,
  type PageParts,
} from '../pages/intent-pages.ts'
import { addressOf, bodyOf, idOf } from './read-request.ts'
import { sendPage } from './send.ts'

export function registerPages(app: FastifyInstance, parts: PageParts): void {
  // The URL contains a digest of the content, so browsers may cache it permanently.
  app.get('/_simulator/pages.css', (_request, reply) =>
    reply
      .type('text/css; charset=utf-8')
      .header('cache-control', 'public, max-age=31536000, immutable')
      .send(stylesheet),
  )
  const pages = {
    '3ds': [showAuthentication, answerAuthentication],
    card: [showCardForm, submitCardForm],
  } as const
  for (const [name, [show, submit]] of Object.entries(pages)) {
    app.get(`/_simulator/${name}/:id`, (request, reply) =>
      sendPage(reply, show(parts, idOf(request), queryOf(request))),
    )
    app.post(`/_simulator/${name}/:id`, (request, reply) =>
      sendPage(reply, submit(parts, idOf(request), parseForm(bodyOf(request)))),
    )
  }
}

function queryOf(request: FastifyRequest): Form {
  return parseForm(addressOf(request).query)
}
