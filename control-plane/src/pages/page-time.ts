import type { FastifyRequest } from 'fastify'
import type { PublisherParts } from '@tollgate/domain/publishing/publisher-parts'
import { findClockOfPage } from '@tollgate/domain/sessions/find-clock-of-page'
import type { ApiServer } from '../access/api-server.ts'
import type { RequestClock } from '../access/request-clock.ts'
import { checkoutCookie } from './checkout/checkout.ts'
import { parseCookie } from './cookies.ts'
import { formFields } from './form-fields.ts'
import { portalCookie } from './portal/portal.ts'
import { ProblemError, problems } from './problem.tsx'

export type PageTimeParts = {
  readonly publisher: PublisherParts
  readonly requestClock: RequestClock
}

/**
 * Serves the pages of a customer on a test clock at the time of that customer. Register it before the pages. While the clock advances,
 * all of them are refused: pages that are read, such as those after a payment, may change something too, dated before work that is
 * done already.
 */
export function installPageTime(app: ApiServer, { publisher, requestClock }: PageTimeParts): void {
  app.addHook('preHandler', (request, _reply, done) => {
    const tokens = tokensOf(request)
    if (tokens.length === 0) return done()
    findClockOfPage(publisher.database.in('sandbox'), tokens).then((clock) => {
      if (clock === undefined) return done()
      if (clock.status === 'advancing') return done(new ProblemError(problems.clockAdvancing))
      requestClock.runAt(clock.timeReached, done)
    }, done)
  })
}

/**
 * Returns the tokens that may name a customer of the sandbox: of a link, of the cookie that belongs to the path, and of the payment from
 * which a bank redirects.
 */
function tokensOf(request: FastifyRequest): string[] {
  const { handle, reference, intentRef } = request.params as Readonly<
    Record<string, string | undefined>
  >
  const { id } = request.query as Readonly<Record<string, unknown>>
  const cookies = [
    handle === undefined ? undefined : request.cookies[portalCookie(handle)],
    reference === undefined ? undefined : request.cookies[checkoutCookie(reference)],
  ]
  const ofCookies = cookies.flatMap((value) => {
    const cookie = parseCookie(value)
    return cookie?.environment === 'sandbox' ? [cookie.token] : []
  })
  const links = [id, intentRef, request.method === 'POST' ? formFields(request)['id'] : undefined]
  return [...ofCookies, ...links.filter((link) => typeof link === 'string')]
}
