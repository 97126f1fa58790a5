import type { FastifyRequest } from 'fastify'
import { claimCheckout } from '@tollgate/domain/sessions/checkout-sessions'
import { digestOf, generateCookieToken } from '@tollgate/domain/sessions/hosted-pages'
import { formFields } from '../form-fields.ts'
import { browserCookie, checkoutOf } from './checkout.ts'
import type { ReadParts } from '../../access/read.ts'

/** Records which browser sends a form that may complete the checkout. A form that only updates the total does not count. */
export async function noteBrowser(pages: ReadParts, request: FastifyRequest): Promise<void> {
  const { completesCheckout = false } = request.routeOptions.config
  const isUpdate = formFields(request)['step'] !== undefined
  if (request.method !== 'POST' || !completesCheckout || isUpdate) return
  const { caller, session, status } = checkoutOf(request)
  // Without the cookie, the browser counts as a new one that differs from every recorded browser.
  const browserSha256 = digestOf(
    request.cookies[browserCookie(session.reference)] ?? generateCookieToken(),
  )
  if (status === 'used' || session.browserSha256 === browserSha256) return
  const { providerId, environment } = caller
  await pages.database
    .of(providerId)
    .in(environment)
    .write((sql) => claimCheckout(sql, providerId, session.sessionId, browserSha256))
}
