import type { FastifyReply, FastifyRequest } from 'fastify'
import { countFromAddress, revertAttempts } from '@tollgate/domain/console/guard-attempts'
import {
  signInByIdentity,
  type IdentitySignInOutcome,
} from '@tollgate/domain/console/sign-in-by-identity'
import { generateToken } from '@tollgate/domain/console/tokens'
import type { ApiServer } from '../../access/api-server.ts'
import { originOf } from '../../access/caller.ts'
import { checksOf, reasonOf } from '../../upstream/checks.ts'
import type { Upstream, UpstreamAccount } from '../../upstream/upstream.ts'
import { formFields } from '../form-fields.ts'
import type { Notice } from '../notice.tsx'
import { seeOther, sendProviderPage } from '../provider/provider-page.tsx'
import {
  clearStartedSignIn,
  issueFormToken,
  readStartedSignIn,
  requireIssuedFormToken,
  setSessionCookie,
  startSignIn,
  type StartedSignIn,
} from './console-session.ts'
import { continuationOf, fieldsOf, nextPath } from './continuation.ts'
import { ChooseProviderPage, LeavingPage, openidPath } from './openid-pages.tsx'
import { signInPath } from './paths.ts'
import type { ConsoleSignInParts } from './sign-in-parts.ts'

const callbackPath = `${openidPath}/callback`
const schema = { hide: true }

/** Registers the sign-in with the OpenID Connect issuer of the console, if there is one. */
export function registerOpenidSignIn(app: ApiServer, pages: ConsoleSignInParts): void {
  const { openid } = pages
  if (openid === undefined) return
  app.post(openidPath, { schema }, (request, reply) => leave(pages, openid, request, reply))
  app.get(callbackPath, { schema }, (request, reply) => comeBack(pages, openid, request, reply))
}

/**
 * Sends the browser to the issuer. The response is a page that redirects by itself, not an HTTP redirect, because browsers check the
 * redirects of a form against the page's policy.
 */
async function leave(
  pages: ConsoleSignInParts,
  openid: Upstream,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  requireIssuedFormToken(request)
  const fields = formFields(request)
  const continuation = continuationOf(fields)
  const started = {
    state: generateToken(),
    browserToken: generateToken(),
    providerId: fields['providerId'] || undefined,
    continuation,
  }
  const checks = checksOf(started.browserToken, started.state)
  const asked = await askIssuer(pages, request, () =>
    openid.authorizeUrl(pages.hostedUrl + callbackPath, checks),
  )
  if (asked.kind !== 'answered') return seeOther(reply, noticePath(pages, asked.kind, started))
  const address = asked.answer.href
  startSignIn(pages, reply, started)
  void reply.header('refresh', `0; url=${address}`)
  const page = <LeavingPage frame={pages} label={openid.label} address={address} />
  return sendProviderPage(reply, 200, page)
}

/**
 * Completes the sign-in of the browser's cookie. The cookie is cleared first, and the issuer accepts its code once, so an address
 * that was seen by others signs nobody in.
 */
async function comeBack(
  pages: ConsoleSignInParts,
  openid: Upstream,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const started = readStartedSignIn(request)
  clearStartedSignIn(pages, reply)
  const query = new URL(request.url, pages.hostedUrl).searchParams
  if (started === undefined || query.get('state') !== started.state) {
    return seeOther(reply, noticePath(pages, 'ended', undefined))
  }
  if (query.get('error') === 'access_denied') {
    return seeOther(reply, noticePath(pages, 'denied', started))
  }
  const callback = new URL(pages.hostedUrl + callbackPath)
  callback.search = query.toString()
  const checks = checksOf(started.browserToken, started.state)
  const asked = await askIssuer(pages, request, () => openid.account(callback, checks))
  if (asked.kind !== 'answered') return seeOther(reply, noticePath(pages, asked.kind, started))
  const account = asked.answer
  const signIn = {
    ...account,
    environment: 'sandbox' as const,
    providerId: started.providerId,
    origin: originOf(request),
  }
  const outcome = await signInByIdentity(pages.console, signIn, new Date(pages.clock.now()))
  return sendOutcome(pages, openid, request, reply, { started, account, outcome })
}

/**
 * Sends requests to the issuer. Those that fail are counted by network address, like wrong passwords: nobody can make this service
 * send so many that the issuer refuses those of others.
 */
async function askIssuer<Answer>(
  pages: ConsoleSignInParts,
  request: FastifyRequest,
  ask: () => Promise<Answer>,
): Promise<
  { readonly kind: 'answered'; readonly answer: Answer } | { readonly kind: 'failed' | 'wait' }
> {
  const counted = await countFromAddress(pages.console, request.ip, new Date(pages.clock.now()))
  if (counted.kind === 'wait') return counted
  try {
    const answer = await ask()
    await revertAttempts(pages.console, [counted.attempt])
    return { kind: 'answered', answer }
  } catch (error) {
    request.log.warn({ reason: reasonOf(error) }, 'a sign-in to the console failed at the issuer')
    return { kind: 'failed' }
  }
}

type Answered = {
  readonly started: StartedSignIn
  readonly account: UpstreamAccount
  readonly outcome: IdentitySignInOutcome
}

function sendOutcome(
  pages: ConsoleSignInParts,
  openid: Upstream,
  request: FastifyRequest,
  reply: FastifyReply,
  { started, account, outcome }: Answered,
): FastifyReply {
  const { continuation } = started
  switch (outcome.kind) {
    case 'signed-in': {
      const { accessToken, expiresAt } = outcome.signedIn
      setSessionCookie(pages, reply, accessToken, expiresAt)
      return seeOther(reply, nextPath(pages, continuation))
    }
    case 'several': {
      const formToken = issueFormToken(pages, request, reply)
      const { label } = openid
      const { providers } = outcome
      const shown = { frame: pages, formToken, continuation, label, providers }
      return sendProviderPage(reply, 200, <ChooseProviderPage {...shown} />)
    }
    case 'refused': {
      const notice = account.verifiedEmail === undefined ? 'unverified' : 'unknown'
      return seeOther(reply, noticePath(pages, notice, started))
    }
  }
}

type OpenidNotice = 'denied' | 'ended' | 'failed' | 'unknown' | 'unverified' | 'wait'

function noticePath(
  { basePath }: { readonly basePath: string },
  notice: OpenidNotice,
  started: Pick<StartedSignIn, 'continuation'> | undefined,
): string {
  const fields = started === undefined ? {} : fieldsOf(started.continuation)
  return `${basePath}${signInPath}?${new URLSearchParams({ ...fields, notice }).toString()}`
}

/** Returns the notice that a page's query names. The text never comes from the query. */
export function openidNoticeOf(
  { openid }: Pick<ConsoleSignInParts, 'openid'>,
  query: unknown,
): Notice | undefined {
  const { notice } = query as { readonly notice?: unknown }
  if (openid === undefined) return undefined
  const texts: Readonly<Record<OpenidNotice, string>> = {
    denied: `You did not sign in with ${openid.label}.`,
    ended: 'The sign-in took too long, or was begun in another browser. Start again.',
    failed: `The sign-in with ${openid.label} failed. Try again, or sign in with a password.`,
    unknown: `Your account at ${openid.label} belongs to no user of the console. Ask an owner to invite its email address.`,
    unverified: `The email address of your account at ${openid.label} is not verified, or not of your company.`,
    wait: 'Too many attempts from your network. Try again in some minutes.',
  }
  const named = Object.entries(texts).find(([name]) => name === notice)
  return named === undefined ? undefined : { tone: 'bad', text: named[1] }
}
