import type { FastifyRequest } from 'fastify'
import type { PublisherParts } from '@tollgate/domain/publishing/publisher-parts'
import { findTimeOfPage } from '@tollgate/domain/sessions/find-time-of-page'
import type { ApiServer } from '../access/api-server.ts'
import type { RequestClock } from '../access/request-clock.ts'
import { checkoutCookie } from './checkout/checkout.ts'
import { parseCookie } from './cookies.ts'
import { formFields } from './form-fields.ts'
import { portalCookie } from './portal/portal.ts'

export type PageTimeParts = {
  readonly publisher: PublisherParts
  readonly requestClock: RequestClock
}

/** Serves the pages of a customer on a test clock at the time of that customer. Register it before the pages. */
export function installPageTime(app: ApiServer, { publisher, requestClock }: PageTimeParts): void {
  app.addHook('preHandler', (request, _reply, done) => {
    const tokens = tokensOf(request)
    if (tokens.length === 0) return done()
    findTimeOfPage(publisher.database.in('sandbox'), tokens).then((time) => {
      if (time === undefined) done()
      else requestClock.runAt(time, done)
    }, done)
  })
}

/** Returns the tokens that may name a customer of the sandbox: of a link, and of the cookie that belongs to the path. */
function tokensOf(request: FastifyRequest): string[] {
  const { handle, reference } = request.params as Readonly<Record<string, string | undefined>>
  const { id } = request.query as Readonly<Record<string, unknown>>
  const cookies = [
    handle === undefined ? undefined : request.cookies[portalCookie(handle)],
    reference === undefined ? undefined : request.cookies[checkoutCookie(reference)],
  ]
  const ofCookies = cookies.flatMap((value) => {
    const cookie = parseCookie(value)
    return cookie?.environment === 'sandbox' ? [cookie.token] : []
  })
  const links = [id, request.method === 'POST' ? formFields(request)['id'] : undefined]
  return [...ofCookies, ...links.filter((link) => typeof link === 'string')]
}
