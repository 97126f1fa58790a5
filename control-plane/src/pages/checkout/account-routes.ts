import type { FastifyReply, FastifyRequest } from 'fastify'
import type { PaymentIntent } from '@tollgate/domain/payments/payment-intent'
import { openCheckoutSession } from '@tollgate/domain/sessions/checkout-sessions'
import { openPortalFromCheckout } from '@tollgate/domain/sessions/customer-sessions'
import { digestOf, sessionMs } from '@tollgate/domain/sessions/hosted-pages'
import { requiredReference } from '@tollgate/schemas/http/fields'
import type { Clock } from '@tollgate/platform/clock/clock'
import type { HostedParts } from '@tollgate/domain/sessions/hosted-parts'
import type { Logger } from '@tollgate/platform/observability/logger'
import type { ApiServer } from '../../access/api-server.ts'
import { commit } from '../../access/commit.ts'
import { formFields } from '../form-fields.ts'
import { enterPortal, type OpenPortalParts } from '../portal/open-portal.tsx'
import { portalPath } from '../portal/portal.ts'
import { ProblemError, problems } from '../problem.tsx'
import { browserCookie, checkoutOf, checkoutPath, operationOfCheckout } from './checkout.ts'
import { requirePayableIntent } from './payable-intent.ts'
import type { ReadParts } from '../../access/read.ts'

export type AccountFormParts = OpenPortalParts & HostedParts & { readonly logger: Logger }

/** How a customer gets from a completed checkout to the portal. */
export type AccountAccess =
  /** A link leads there, because the checkout was opened in the portal. */
  | { readonly kind: 'portal'; readonly path: string }
  /** A form on the checkout opens the portal. */
  | { readonly kind: 'form' }

/**
 * Returns the way to the portal, or undefined if there is none. A checkout without the right to change plans has none, unless it
 * was opened in the portal. Other checkouts have one only in the browser that completed them, and only once, for as long as a link
 * to the portal would be valid. `completedAt` is undefined if nothing was completed.
 */
export function accountAccessOf(
  pages: { readonly clock: Clock; readonly basePath: string },
  request: FastifyRequest,
  completedAt: Date | undefined,
): AccountAccess | undefined {
  const { portalHandle, mayChangePlan } = checkoutOf(request).session
  if (portalHandle !== null) {
    return { kind: 'portal', path: `${pages.basePath}${portalPath}/${portalHandle}` }
  }
  if (!mayChangePlan || !isRecent(pages, completedAt)) return undefined
  return isCompletingBrowser(request) ? { kind: 'form' } : undefined
}

/**
 * Returns whether this browser completed the checkout. Every browser that opened the link can show the pages, but only one sent the
 * form that completed it.
 */
function isCompletingBrowser(request: FastifyRequest): boolean {
  const { reference, browserSha256 } = checkoutOf(request).session
  const cookie = request.cookies[browserCookie(reference)]
  return cookie !== undefined && digestOf(cookie) === browserSha256
}

/** Returns when the customer completed the checkout, or undefined if it is not complete. */
export function completedAtOf(request: FastifyRequest): Date | undefined {
  const { session, status } = checkoutOf(request)
  return status === 'used' ? session.updatedAt : undefined
}

function isRecent({ clock }: { readonly clock: Clock }, at: Date | undefined): boolean {
  return at !== undefined && clock.now() - at.getTime() < sessionMs
}

/** Registers the forms that lead from a completed checkout to the portal, or to a checkout for credits. */
export function registerAccountForms(app: ApiServer, pages: AccountFormParts): void {
  const config = { servesExpired: true }
  const schema = { hide: true }
  app.post(`${checkoutPath}/:reference/account`, { schema, config }, (request, reply) =>
    openPortalOrRedirect(pages, request, reply),
  )
  app.post(`${checkoutPath}/:reference/credits`, { schema, config }, (request, reply) =>
    openTopUp(pages, request, reply),
  )
}

async function openPortalOrRedirect(
  pages: AccountFormParts,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const { caller, session, frame } = checkoutOf(request)
  const { payment } = formFields(request)
  // A payment of an earlier invoice does not complete the checkout, so the time of the payment counts.
  const paid = payment === undefined ? undefined : await requirePaid(pages, request, payment)
  const completedAt = completedAtOf(request) ?? paid?.succeededAt ?? undefined
  const access = accountAccessOf(pages, request, completedAt)
  if (access?.kind === 'portal') return reply.redirect(access.path, 303)
  if (access === undefined) throw new ProblemError(problems.linkUsed, frame)
  const openUntil = new Date(pages.clock.now() + pages.limits.portalOpenMs)
  const opened = await commit(pages, operationOfCheckout(pages, request), (work) =>
    openPortalFromCheckout(work, session, openUntil),
  )
  if (opened === undefined) throw new ProblemError(problems.linkUsed, frame)
  return enterPortal(pages, request, reply, { ...caller, session: opened.session }, opened.token)
}

function requirePaid(
  pages: ReadParts,
  request: FastifyRequest,
  payment: string,
): Promise<PaymentIntent> {
  const reference = requiredReference.safeParse(payment)
  if (!reference.success) throw new ProblemError(problems.notFound, checkoutOf(request).frame)
  return requirePayableIntent(pages, request, reference.data)
}

/** Opens a new checkout that sells credits. It never has more rights than this one. */
async function openTopUp(
  pages: AccountFormParts,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const { session, status, path } = checkoutOf(request)
  if (status !== 'used') return reply.redirect(path, 303)
  const { customerRef, returnUrl, portalHandle, locale } = session
  const isOwn = isCompletingBrowser(request) && isRecent(pages, session.updatedAt)
  const mayChangePlan = session.mayChangePlan && isOwn
  const { sessionId } = await commit(pages, operationOfCheckout(pages, request), (work) =>
    openCheckoutSession(work, pages, {
      ...{ customerRef, returnUrl, mayChangePlan, portalHandle, locale },
      ...{ purpose: 'credit_topup', productRef: null, plan: undefined },
    }),
  )
  return reply.redirect(`${pages.basePath}${checkoutPath}?id=${sessionId}`, 303)
}
