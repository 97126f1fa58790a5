import {
  checkoutSessionStatus,
  locateCheckoutSession,
} from '@tollgate/domain/sessions/checkout-sessions'
import { generateCookieToken } from '@tollgate/domain/sessions/hosted-pages'
import { environments } from '@tollgate/schemas/environment'
import type { PublisherParts } from '@tollgate/domain/publishing/publisher-parts'
import type { Clock } from '@tollgate/platform/clock/clock'
import type { ApiServer } from '../../access/api-server.ts'
import { cookieOptions, writeCookie } from '../cookies.ts'
import { frameOf, type FrameParts } from '../frame.ts'
import { ProblemError, problems } from '../problem.tsx'
import { browserCookie, checkoutCookie, checkoutPath } from './checkout.ts'

type Parts = FrameParts & { readonly publisher: PublisherParts; readonly clock: Clock }

const dayMs = 86_400_000

/**
 * Registers the page that opens a checkout. The link may be opened in several browsers until the checkout is completed. It is
 * exchanged for a cookie, so that later addresses do not contain it. A second cookie differs in each browser: only the browser that
 * completes the checkout may open the portal afterwards.
 */
export function registerCheckoutOpening(app: ApiServer, pages: Parts): void {
  app.get(checkoutPath, { schema: { hide: true } }, async (request, reply) => {
    const { id } = request.query as { readonly id?: unknown }
    for (const environment of environments) {
      if (typeof id !== 'string' || !/^[0-9a-f]{32}$/.test(id)) break
      const placed = await locateCheckoutSession(pages.publisher.database.in(environment), id)
      if (placed === undefined) continue
      const { session, providerId } = placed
      const status = checkoutSessionStatus(session, new Date(pages.clock.now()))
      if (status !== 'active') {
        const frame = await frameOf(pages, request, { providerId, environment }, session.locale)
        throw new ProblemError(
          status === 'used' ? problems.checkoutDone : problems.linkExpired,
          frame,
        )
      }
      const path = pages.basePath + checkoutPath
      const isSecure = new URL(pages.hostedUrl).protocol === 'https:'
      // The cookie lasts longer than the checkout, so that a customer who returns from a bank still sees the outcome.
      const options = { ...cookieOptions(path, isSecure), maxAge: dayMs / 1_000 }
      const browser = browserCookie(session.reference)
      return reply
        .setCookie(checkoutCookie(session.reference), writeCookie(environment, id), options)
        .setCookie(browser, request.cookies[browser] ?? generateCookieToken(), options)
        .redirect(`${path}/${session.reference}`, 303)
    }
    throw new ProblemError(problems.noSuchLink)
  })
}
