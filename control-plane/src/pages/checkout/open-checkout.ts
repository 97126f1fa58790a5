import {
  checkoutSessionStatus,
  placeCheckoutSession,
} from '@tollgate/domain/sessions/checkout-sessions'
import { environments } from '@tollgate/schemas/environment'
import type { ApiServer } from '../../http/api-server.ts'
import { cookieOptions, writeCookie } from '../cookies.ts'
import { frameOf, type PageParts } from '../frame.ts'
import { ProblemError, problems } from '../problem.tsx'
import { checkoutCookie, checkoutPath } from './checkout.ts'

const dayMs = 86_400_000

/**
 * The link may be opened as often as its owner likes until the checkout is completed: it lets its customer buy something,
 * and see nothing else. It is exchanged for a cookie all the same, and in no address any more.
 */
export function registerCheckoutOpening(app: ApiServer, pages: PageParts): void {
  app.get(checkoutPath, { schema: { hide: true } }, async (request, reply) => {
    const { id } = request.query as { readonly id?: unknown }
    for (const environment of environments) {
      if (typeof id !== 'string' || !/^[0-9a-f]{32}$/.test(id)) break
      const placed = await placeCheckoutSession(pages.publisher.database.in(environment), id)
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
      return reply
        .setCookie(checkoutCookie(session.reference), writeCookie(environment, id), {
          ...cookieOptions(path, isSecure),
          // Longer than the checkout itself: whoever comes back from a bank is told what came of it.
          maxAge: dayMs / 1_000,
        })
        .redirect(`${path}/${session.reference}`, 303)
    }
    throw new ProblemError(problems.noSuchLink)
  })
}
