import type { FastifyReply, FastifyRequest } from 'fastify'
import type { PaymentIntent } from '@tollgate/domain/payments/payment-intent'
import { openCheckoutSession } from '@tollgate/domain/sessions/checkout-sessions'
import { openPortalOfCheckout } from '@tollgate/domain/sessions/customer-sessions'
import { digestOf, sessionMs } from '@tollgate/domain/sessions/hosted-pages'
import { requiredReference } from '@tollgate/schemas/http/fields'
import type { Clock } from '@tollgate/platform/clock/clock'
import type { HostedParts } from '@tollgate/domain/sessions/hosted-parts'
import type { Logger } from '@tollgate/platform/observability/logger'
import type { ApiServer } from '../../access/api-server.ts'
import { commit } from '../../access/commit.ts'
import { formFields } from '../form-fields.ts'
import { letIn, type OpenPortalParts } from '../portal/open-portal.tsx'
import { portalPath } from '../portal/portal.ts'
import { ProblemError, problems } from '../problem.tsx'
import { browserCookie, checkoutOf, checkoutPath, operationOfCheckout } from './checkout.ts'
import { requireIntent } from './payable-intent.ts'
import type { ReadParts } from '../../access/read.ts'

export type AccountFormParts = OpenPortalParts & HostedParts & { readonly logger: Logger }

/** How a customer gets from a completed checkout to the portal. */
export type WayToAccount =
  /** The checkout was opened in it. */
  | { readonly kind: 'portal'; readonly path: string }
  /** A form of the checkout opens it. */
  | { readonly kind: 'form' }

/**
 * Returns the way to the portal; undefined if there is none. A checkout that was issued without the right to change plans
 * never leads there, and others only in the browser that has completed them, for as long afterwards as a link to the portal
 * would be good for, and once. `completedAt` is undefined if nothing was completed.
 */
export function wayToAccount(
  pages: { readonly clock: Clock; readonly basePath: string },
  request: FastifyRequest,
  completedAt: Date | undefined,
): WayToAccount | undefined {
  const { portalHandle, mayChangePlan } = checkoutOf(request).session
  if (portalHandle !== null) {
    return { kind: 'portal', path: `${pages.basePath}${portalPath}/${portalHandle}` }
  }
  if (!mayChangePlan || !isRecent(pages, completedAt)) return undefined
  return isCompletingBrowser(request) ? { kind: 'form' } : undefined
}

/** Every browser that has opened the link can show the pages. Only one of them has sent the forms. */
function isCompletingBrowser(request: FastifyRequest): boolean {
  const { reference, browserSha256 } = checkoutOf(request).session
  const cookie = request.cookies[browserCookie(reference)]
  return cookie !== undefined && digestOf(cookie) === browserSha256
}

/** Returns when the customer was done with the checkout; undefined if that has not happened. */
export function completedAtOf(request: FastifyRequest): Date | undefined {
  const { session, status } = checkoutOf(request)
  return status === 'used' ? session.updatedAt : undefined
}

function isRecent({ clock }: { readonly clock: Clock }, at: Date | undefined): boolean {
  return at !== undefined && clock.now() - at.getTime() < sessionMs
}

/** What a customer goes on to from a completed checkout: the portal, or buying credits. */
export function registerAccountForms(app: ApiServer, pages: AccountFormParts): void {
  const config = { servesExpired: true }
  const schema = { hide: true }
  app.post(`${checkoutPath}/:reference/account`, { schema, config }, (request, reply) =>
    openAccount(pages, request, reply),
  )
  app.post(`${checkoutPath}/:reference/credits`, { schema, config }, (request, reply) =>
    beginTopUp(pages, request, reply),
  )
}

async function openAccount(
  pages: AccountFormParts,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const { caller, session, frame } = checkoutOf(request)
  const { payment } = formFields(request)
  // Paying an earlier invoice does not use the checkout up.
  const paid = payment === undefined ? undefined : await requirePaid(pages, request, payment)
  const completedAt = completedAtOf(request) ?? paid?.succeededAt ?? undefined
  const way = wayToAccount(pages, request, completedAt)
  if (way?.kind === 'portal') return reply.redirect(way.path, 303)
  if (way === undefined) throw new ProblemError(problems.linkUsed, frame)
  const openUntil = new Date(pages.clock.now() + pages.limits.portalOpenMs)
  const opened = await commit(pages, operationOfCheckout(pages, request), (work) =>
    openPortalOfCheckout(work, session, openUntil),
  )
  if (opened === undefined) throw new ProblemError(problems.linkUsed, frame)
  return letIn(pages, request, reply, { ...caller, session: opened.session }, opened.token)
}

function requirePaid(
  pages: ReadParts,
  request: FastifyRequest,
  payment: string,
): Promise<PaymentIntent> {
  const reference = requiredReference.safeParse(payment)
  if (!reference.success) throw new ProblemError(problems.notFound, checkoutOf(request).frame)
  return requireIntent(pages, request, reference.data)
}

/** Leads to a checkout of its own that sells credits and may do no more than this one. */
async function beginTopUp(
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
