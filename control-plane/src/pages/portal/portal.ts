import type { FastifyRequest } from 'fastify'
import { findCustomer, type Customer } from '@tollgate/domain/customers/repository'
import {
  findPortal,
  type CustomerSession,
  type LocatedCustomerSession,
} from '@tollgate/domain/sessions/customer-sessions'
import type { Operation } from '@tollgate/domain/unit-of-work/unit-of-work'
import type { Clock } from '@tollgate/platform/clock/clock'
import type { PublisherParts } from '@tollgate/domain/publishing/publisher-parts'
import type { Caller } from '../../access/caller.ts'
import { read, type ReadParts } from '../../access/read.ts'
import { formTokenOf, handleOf, isFormToken, parseCookie } from '../cookies.ts'
import { operationOfCustomer } from '../customer-operation.ts'
import { formFields } from '../form-fields.ts'
import { frameOf, type Frame, type FrameParts } from '../frame.ts'
import { ProblemError, problems } from '../problem.tsx'

export type PortalParts = FrameParts & { readonly publisher: PublisherParts; readonly clock: Clock }

/** The portal that a customer has open. */
export type Portal = {
  readonly caller: Caller
  readonly customer: Customer
  readonly session: CustomerSession
  /** Path of its pages. */
  readonly path: string
  /** Token for its forms. */
  readonly formToken: string
  readonly frame: Frame
}

export const portalPath = '/customer/manage'

declare module 'fastify' {
  interface FastifyRequest {
    /** Set by the portal's hook. Read it through `portalOf`. */
    portal: Portal | null
  }
}

export function portalOf(request: FastifyRequest): Portal {
  if (request.portal === null) throw new Error(`${request.url} is served without a portal`)
  return request.portal
}

export function operationOfPortal(
  pages: { readonly clock: Clock },
  request: FastifyRequest,
): Operation {
  return operationOfCustomer(pages, request, portalOf(request))
}

export function portalCookie(handle: string): string {
  return `portal_${handle}`
}

/**
 * Returns the portal of the request. The cookie authenticates the customer, and a form must also contain the token of a page. The
 * environment is part of the cookie, so that only its database is queried.
 */
export async function requirePortal(
  pages: PortalParts,
  request: FastifyRequest,
  handle: string,
): Promise<Portal> {
  const cookie = parseCookie(request.cookies[portalCookie(handle)])
  if (cookie === undefined) throw new ProblemError(problems.signedOut)
  const { environment, token } = cookie
  const sql = pages.publisher.database.in(environment)
  const placed = await findPortal(sql, token, new Date(pages.clock.now()))
  if (placed === undefined || handleOf(placed.session.sessionId) !== handle) {
    throw new ProblemError(problems.signedOut)
  }
  const caller = { providerId: placed.providerId, environment }
  const frame = await frameOf(pages, request, caller, placed.session.locale)
  // A browser with the cookie had access before, so the page may still show the provider.
  if (!placed.isOpen) throw new ProblemError(problems.signedOut, frame)
  const customer = await customerOf(pages, caller, placed)
  if (customer === undefined) throw new ProblemError(problems.signedOut, frame)
  if (request.method === 'POST' && !isFormToken(token, formFields(request)['formToken'])) {
    throw new ProblemError(problems.staleForm, frame)
  }
  const path = pathOf(pages, handle)
  return { caller, customer, session: placed.session, path, formToken: formTokenOf(token), frame }
}

/** Maximum number of open portals in one browser that are checked. */
const portalsMax = 20

/** Returns the portal of the customer if this browser has it open, otherwise undefined. */
export async function findOpenPortal(
  pages: PortalParts,
  request: FastifyRequest,
  { providerId, environment }: Caller,
  customerRef: string,
): Promise<Pick<Portal, 'path'> | undefined> {
  const sql = pages.publisher.database.in(environment)
  const now = new Date(pages.clock.now())
  const open = Object.entries(request.cookies).filter(([name]) => name.startsWith(portalCookie('')))
  for (const [, value] of open.slice(0, portalsMax)) {
    const cookie = parseCookie(value)
    if (cookie?.environment !== environment) continue
    const placed = await findPortal(sql, cookie.token, now)
    if (!placed?.isOpen || placed.providerId !== providerId) continue
    if (placed.session.customerRef !== customerRef) continue
    return { path: pathOf(pages, handleOf(placed.session.sessionId)) }
  }
  return undefined
}

function pathOf({ basePath }: { readonly basePath: string }, handle: string): string {
  return `${basePath}${portalPath}/${handle}`
}

function customerOf(
  pages: ReadParts,
  caller: Caller,
  { session }: LocatedCustomerSession,
): Promise<Customer | undefined> {
  return read(pages, caller, (sql) => findCustomer(sql, caller.providerId, session.customerRef))
}
