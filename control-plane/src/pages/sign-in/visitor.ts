import { randomBytes } from 'node:crypto'
import type { FastifyReply, FastifyRequest } from 'fastify'
import {
  findBrowserSession,
  startBrowserSession,
  type BrowserSession,
} from '@tollgate/domain/customer-auth/browser-sessions'
import { digestOfParts } from '@tollgate/domain/customer-auth/digest'
import type { CustomerAuth } from '../../customer-auth/customer-auth.ts'
import type { Caller } from '../../access/caller.ts'
import { read } from '../../access/read.ts'
import { cookieOptions, formTokenOf, isFormToken } from '../cookies.ts'
import { formFields } from '../form-fields.ts'
import { frameOf, type Frame } from '../frame.ts'
import type { SignInPageParts as PageParts } from './sign-in-page-parts.ts'
import { ProblemError, problems } from '../problem.tsx'

/** The parts of pages that require a sign-in. */
export type SignInParts = { readonly pages: PageParts; readonly auth: CustomerAuth }

export type Exchange = { readonly request: FastifyRequest; readonly reply: FastifyReply }

/** A browser on a page that requires a sign-in at one provider. */
export type Visitor = {
  readonly caller: Caller
  readonly frame: Frame
  /** Path of the page. Its forms are below this path. */
  readonly path: string
  readonly formToken: string
  /** Token of the cookie that every browser has, signed in or not. */
  readonly browserToken: string
  /** Undefined if the browser is not signed in. */
  readonly session: BrowserSession | undefined
}

/**
 * Reads the visitor of a page, and sets the cookie of a browser that visits for the first time. A form must contain the token of
 * such a page.
 */
export async function readVisitor(
  { pages }: SignInParts,
  { request, reply }: Exchange,
  caller: Caller,
  path: string,
): Promise<Visitor> {
  const frame = await frameOf(pages, request, caller)
  const browserToken = browserTokenOf(pages, request, reply)
  if (request.method === 'POST') {
    const { formToken } = formFields(request)
    if (!isFormToken(browserToken, formToken)) throw new ProblemError(problems.staleForm, frame)
  }
  const token = sessionTokenOf(pages, request, caller)
  const session = token === undefined ? undefined : await findSession(pages, caller, token)
  return { caller, frame, path, formToken: formTokenOf(browserToken), browserToken, session }
}

function findSession(pages: PageParts, caller: Caller, token: string) {
  const now = new Date(pages.clock.now())
  return read(pages, caller, (sql) => findBrowserSession(sql, caller.providerId, token, now))
}

/** Signs the browser in: its user has proved to own the email address. */
export async function signIn(
  { pages, auth }: SignInParts,
  reply: FastifyReply,
  { caller }: Pick<Visitor, 'caller'>,
  session: BrowserSession,
): Promise<void> {
  const { providerId, environment } = caller
  const token = randomBytes(32).toString('base64url')
  const now = new Date(pages.clock.now())
  const lifetimeMs = auth.config.customerSignedInHours * 3_600_000
  const expiresAt = new Date(now.getTime() + lifetimeMs)
  await pages.database
    .of(providerId)
    .in(environment)
    .write((sql) => startBrowserSession(sql, providerId, { ...session, token, expiresAt }, now))
  void reply.setCookie(sessionCookie(pages, caller), token, {
    ...hostCookie(pages),
    maxAge: Math.floor(lifetimeMs / 1_000),
  })
}

export function clearSignIn(pages: PageParts, reply: FastifyReply, caller: Caller): void {
  void reply.clearCookie(sessionCookie(pages, caller), hostCookie(pages))
}

/** Signs the browser out and redirects to the page. Used if the account of the sign-in now belongs to another customer. */
export function restartSignIn(
  pages: PageParts,
  reply: FastifyReply,
  { caller, path }: Visitor,
): FastifyReply {
  clearSignIn(pages, reply, caller)
  return reply.redirect(path, 303)
}

export function sessionTokenOf(
  pages: PageParts,
  request: FastifyRequest,
  caller: Caller,
): string | undefined {
  return request.cookies[sessionCookie(pages, caller)]
}

function browserTokenOf(pages: PageParts, request: FastifyRequest, reply: FastifyReply): string {
  const known = findBrowserToken(pages, request)
  if (known !== undefined) return known
  const token = randomBytes(32).toString('base64url')
  void reply.setCookie(browserCookie(pages), token, hostCookie(pages))
  return token
}

/** Returns the token of the cookie that every browser has, or undefined if the browser visits for the first time. */
export function findBrowserToken(pages: PageParts, request: FastifyRequest): string | undefined {
  const known = request.cookies[browserCookie(pages)]
  return known !== undefined && /^[\w-]{43}$/.test(known) ? known : undefined
}

function browserCookie(pages: PageParts): string {
  return cookieName(pages, 'sign_in_browser')
}

/** Returns the name of the cookie for one provider and environment, because a browser may be signed in at several. */
function sessionCookie(pages: PageParts, { providerId, environment }: Caller): string {
  return cookieName(pages, `signed_in_${digestOfParts(environment, providerId).slice(0, 16)}`)
}

/** Returns the cookie's name. With the prefix, browsers accept the cookie only from this host and over an encrypted connection. */
function cookieName({ hostedUrl }: PageParts, name: string): string {
  return isSecure(hostedUrl) ? `__Host-${name}` : name
}

function hostCookie({ hostedUrl }: PageParts) {
  return cookieOptions('/', isSecure(hostedUrl))
}

function isSecure(hostedUrl: string): boolean {
  return new URL(hostedUrl).protocol === 'https:'
}
