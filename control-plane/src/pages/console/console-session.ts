import type { FastifyReply, FastifyRequest } from 'fastify'
import { findConsoleSession, type ConsoleSession } from '@tollgate/domain/console/access-tokens'
import { generateToken } from '@tollgate/domain/console/tokens'
import type { Clock } from '@tollgate/platform/clock/clock'
import type { ConsoleParts } from '@tollgate/domain/console/console-parts'
import { apiCookieName, apiCookiePath } from '../../console/session-cookie.ts'
import { cookieOptions, formTokenOf, isFormToken } from '../cookies.ts'
import { formFields } from '../form-fields.ts'
import { consolePath } from './paths.ts'
import { continuationOf, fieldsOf, type Continuation } from './continuation.ts'
import { ProviderProblemError, providerProblems } from '../provider/provider-problem.tsx'

export type ConsoleSessionParts = {
  readonly clock: Clock
  readonly hostedUrl: string
  readonly basePath: string
}

/*
 * The console's pages have three cookies, which no script can read. Two contain the access token of a signed-in user: one for the
 * pages, and one for the API. The third contains a random token for the forms before the sign-in. Other sites can send a form to
 * this service, but cannot know the token that the form must contain. A fourth exists while the user signs in at the OpenID Connect
 * issuer.
 */

const sessionCookie = 'tollgate_console'
const formCookie = 'tollgate_console_form'
const startedCookie = 'tollgate_console_openid'
/** How long a browser may stay at the OpenID Connect issuer, in seconds. */
const startedSeconds = 600

/** A signed-in user, with the access token of the session and the token for the forms of the pages. */
export type ConsoleVisitor = {
  readonly session: ConsoleSession
  readonly accessToken: string
  readonly formToken: string
}

export async function findVisitor(
  pages: { readonly clock: Clock; readonly console: ConsoleParts },
  request: FastifyRequest,
): Promise<ConsoleVisitor | undefined> {
  const accessToken = request.cookies[sessionCookie]
  if (accessToken === undefined) return undefined
  const now = new Date(pages.clock.now())
  const session = await findConsoleSession(pages.console.database.control, accessToken, now)
  if (session === undefined) return undefined
  return { session, accessToken, formToken: formTokenOf(accessToken) }
}

/** Returns the signed-in user who sent a form. Otherwise refuses the request with a page. */
export async function requireVisitor(
  pages: { readonly clock: Clock; readonly console: ConsoleParts },
  request: FastifyRequest,
): Promise<ConsoleVisitor> {
  const visitor = await findVisitor(pages, request)
  if (visitor === undefined) throw new ProviderProblemError(providerProblems.signedOut)
  requireFormToken(request, request.cookies[sessionCookie])
  return visitor
}

/** Signs the browser in until the access token expires. */
export function setSessionCookie(
  pages: ConsoleSessionParts,
  reply: FastifyReply,
  accessToken: string,
  expiresAt: Date,
): void {
  const maxAge = Math.floor((expiresAt.getTime() - pages.clock.now()) / 1_000)
  void reply.setCookie(sessionCookie, accessToken, { ...optionsOf(pages), maxAge })
  void reply.setCookie(apiCookieName, accessToken, { ...apiOptionsOf(pages), maxAge })
}

export function clearSessionCookie(pages: CookiePlace, reply: FastifyReply): void {
  void reply.clearCookie(sessionCookie, optionsOf(pages))
  void reply.clearCookie(apiCookieName, apiOptionsOf(pages))
}

/** A sign-in for which the browser was sent to the OpenID Connect issuer. */
export type StartedSignIn = {
  readonly state: string
  /** Token from which the secrets of the sign-in are derived. */
  readonly browserToken: string
  /** The provider that a user of several providers chose. */
  readonly providerId: string | undefined
  readonly continuation: Continuation
}

/** Stores the sign-in in the browser, so that no other browser can complete it. */
export function startSignIn(
  pages: CookiePlace,
  reply: FastifyReply,
  { state, browserToken, providerId = '', continuation }: StartedSignIn,
): void {
  const text = new URLSearchParams({ state, browserToken, providerId, ...fieldsOf(continuation) })
  void reply.setCookie(startedCookie, text.toString(), {
    ...optionsOf(pages),
    maxAge: startedSeconds,
  })
}

export function readStartedSignIn(request: FastifyRequest): StartedSignIn | undefined {
  const fields = new URLSearchParams(request.cookies[startedCookie] ?? '')
  const [state, browserToken] = [fields.get('state'), fields.get('browserToken')]
  if (!state || !browserToken) return undefined
  const continuation = continuationOf(Object.fromEntries(fields))
  return { state, browserToken, providerId: fields.get('providerId') || undefined, continuation }
}

export function clearStartedSignIn(pages: CookiePlace, reply: FastifyReply): void {
  void reply.clearCookie(startedCookie, optionsOf(pages))
}

/** Returns the token for a form of visitors who are not signed in, and sets the cookie against which the token is verified. */
export function issueFormToken(
  pages: CookiePlace,
  request: FastifyRequest,
  reply: FastifyReply,
): string {
  const given = request.cookies[formCookie]
  const token = given !== undefined && /^[\w-]{43}$/.test(given) ? given : generateToken()
  void reply.setCookie(formCookie, token, optionsOf(pages))
  return formTokenOf(token)
}

/** Refuses a form that did not come from a page for which `issueFormToken` was called. */
export function requireIssuedFormToken(request: FastifyRequest): void {
  requireFormToken(request, request.cookies[formCookie])
}

function requireFormToken(request: FastifyRequest, cookieToken: string | undefined): void {
  const given = formFields(request)['formToken']
  if (cookieToken !== undefined && isFormToken(cookieToken, given)) return
  throw new ProviderProblemError(providerProblems.staleForm)
}

type CookiePlace = { readonly hostedUrl: string; readonly basePath: string }

function optionsOf(
  { basePath, hostedUrl }: CookiePlace,
  path = consolePath,
): ReturnType<typeof cookieOptions> {
  return cookieOptions(basePath + path, new URL(hostedUrl).protocol === 'https:')
}

/** Only the console's own pages call the API with a cookie, so browsers send this cookie with requests of this site only. */
function apiOptionsOf(place: CookiePlace): ReturnType<typeof cookieOptions> {
  return { ...optionsOf(place, apiCookiePath), sameSite: 'strict' }
}
