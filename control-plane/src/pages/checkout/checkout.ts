import type { FastifyRequest } from 'fastify'
import { findCustomer, type Customer } from '@tollgate/domain/customers/repository'
import {
  checkoutSessionStatus,
  locateCheckoutSession,
  type CheckoutSession,
} from '@tollgate/domain/sessions/checkout-sessions'
import type { Operation } from '@tollgate/domain/unit-of-work/unit-of-work'
import type { Clock } from '@tollgate/platform/clock/clock'
import type { PublisherParts } from '@tollgate/domain/publishing/publisher-parts'
import type { Caller } from '../../access/caller.ts'
import { read } from '../../access/read.ts'
import { formTokenOf, isFormToken, parseCookie } from '../cookies.ts'
import { operationOfCustomer } from '../customer-operation.ts'
import { formFields } from '../form-fields.ts'
import { frameOf, type Frame, type FrameParts } from '../frame.ts'
import { ProblemError, problems } from '../problem.tsx'

type Parts = FrameParts & { readonly publisher: PublisherParts; readonly clock: Clock }

/** A checkout that a customer has open. */
export type Checkout = {
  readonly caller: Caller
  readonly customer: Customer
  readonly session: CheckoutSession
  /** Current status of the session. An expired session is refused, except on pages to which the customer returns from a payment. */
  readonly status: CheckoutSession['status']
  /** Path of its pages. */
  readonly path: string
  /** Token for its forms. */
  readonly formToken: string
  readonly frame: Frame
}

export const checkoutPath = '/customer/checkout'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Whether the page is also served for an expired checkout. */
    servesExpired?: boolean
    /** Whether the form may complete the checkout, or pays an invoice on it. */
    completesCheckout?: boolean
  }
  interface FastifyRequest {
    /** Set by the checkout's hook. Read it through `checkoutOf`. */
    checkout: Checkout | null
  }
}

export function checkoutOf(request: FastifyRequest): Checkout {
  if (request.checkout === null) throw new Error(`${request.url} is served without a checkout`)
  return request.checkout
}

export function operationOfCheckout(
  pages: { readonly clock: Clock },
  request: FastifyRequest,
): Operation {
  return operationOfCustomer(pages, request, checkoutOf(request))
}

/** Returns the path of the page for a plan, an amount and a currency. Without a choice, it is the first step. */
export function stepPath(
  { path }: Pick<Checkout, 'path'>,
  chosen: {
    readonly plan?: string | undefined
    readonly amount?: string | undefined
    readonly currency?: string | undefined
  },
): string {
  const given = Object.entries(chosen).filter(([, value]) => value !== undefined && value !== '')
  const query = new URLSearchParams(given as [string, string][]).toString()
  return query === '' ? path : `${path}?${query}`
}

export function checkoutCookie(reference: string): string {
  return `checkout_${reference}`
}

/** Returns the name of the cookie that distinguishes the browsers that opened the same link. */
export function browserCookie(reference: string): string {
  return `browser_${reference}`
}

/**
 * Finds the checkout of a request. As in the portal, the cookie authenticates the browser, and a form must also contain the token
 * of the page.
 */
export async function requireCheckout(
  pages: Parts,
  request: FastifyRequest,
  reference: string,
): Promise<Checkout> {
  const cookie = parseCookie(request.cookies[checkoutCookie(reference)])
  if (cookie === undefined) throw new ProblemError(problems.signedOut)
  const { environment, token } = cookie
  const placed = await locateCheckoutSession(pages.publisher.database.in(environment), token)
  if (placed?.session.reference !== reference) throw new ProblemError(problems.signedOut)
  const { providerId, session } = placed
  const caller = { providerId, environment }
  const frame = await frameOf(pages, request, caller, session.locale)
  const status = checkoutSessionStatus(session, new Date(pages.clock.now()))
  const { servesExpired = false } = request.routeOptions.config
  if (status === 'expired' && !servesExpired) throw new ProblemError(problems.linkExpired, frame)
  const customer = await read(pages, caller, (sql) =>
    findCustomer(sql, providerId, session.customerRef),
  )
  if (customer === undefined) throw new ProblemError(problems.signedOut, frame)
  if (request.method === 'POST' && !isFormToken(token, formFields(request)['formToken'])) {
    throw new ProblemError(problems.staleForm, frame)
  }
  const path = `${pages.basePath}${checkoutPath}/${reference}`
  return { caller, customer, session, status, path, formToken: formTokenOf(token), frame }
}
