import type { FastifyReply } from 'fastify'
import { signIn, type SignInOutcome } from '@tollgate/domain/console/sign-in'
import { signInSchema } from '@tollgate/schemas/http/console-auth'
import type { ApiServer } from '../../access/api-server.ts'
import { browserCookieName, readBrowserCookie } from '../../console/browser-cookie.ts'
import { originOf } from '../../access/caller.ts'
import { cookieOptions } from '../cookies.ts'
import { formFields } from '../form-fields.ts'
import { submittedFormOf } from '../submitted-form.ts'
import { seeOther, sendProviderPage } from '../provider/provider-page.tsx'
import { consolePath, signInPath } from './paths.ts'
import {
  findVisitor,
  issueFormToken,
  requireIssuedFormToken,
  setSessionCookie,
} from './console-session.ts'
import { continuationOf, nextPath } from './continuation.ts'
import { openidNoticeOf } from './openid-routes.tsx'
import type { ConsoleSignInParts } from './sign-in-parts.ts'
import { SignInPage, type SignInPageProps } from './sign-in-page.tsx'

export function registerSignInPage(app: ApiServer, pages: ConsoleSignInParts): void {
  app.get(signInPath, { schema: { hide: true } }, async (request, reply) => {
    const continuation = continuationOf(request.query)
    if ((await findVisitor(pages, request)) !== undefined) {
      return seeOther(reply, nextPath(pages, continuation))
    }
    const formToken = issueFormToken(pages, request, reply)
    const submitted = submittedFormOf(request, { path: pages.basePath + consolePath, formToken })
    const notice =
      submitted === undefined
        ? openidNoticeOf(pages, request.query)
        : ({ tone: 'good', text: 'Your password is set. Sign in with it.' } as const)
    const email = submitted?.fields['email']
    return sendSignInPage(pages, reply, 200, { formToken, continuation, notice, email })
  })

  app.post(signInPath, { schema: { hide: true } }, async (request, reply) => {
    requireIssuedFormToken(request)
    const fields = formFields(request)
    const shown = {
      formToken: issueFormToken(pages, request, reply),
      continuation: continuationOf(fields),
      email: fields['email'],
    }
    const given = signInSchema.safeParse({ ...fields, environment: 'sandbox' })
    if (!given.success) {
      const text = 'Enter your email address and your password.'
      return sendSignInPage(pages, reply, 400, { ...shown, notice: { tone: 'bad', text } })
    }
    const attempt = {
      ...given.data,
      providerId: given.data.providerId || undefined,
      address: request.ip,
      browserToken: readBrowserCookie(request),
      origin: originOf(request),
    }
    const outcome = await signIn(pages.console, attempt, new Date(pages.clock.now()))
    return sendSignInOutcome(pages, reply, outcome, shown)
  })
}

function sendSignInOutcome(
  pages: ConsoleSignInParts,
  reply: FastifyReply,
  outcome: SignInOutcome,
  shown: SignInPageData,
): FastifyReply {
  switch (outcome.kind) {
    case 'signed-in': {
      const { signedIn, browserToken } = outcome
      setSessionCookie(pages, reply, signedIn.accessToken, signedIn.expiresAt)
      if (browserToken !== undefined) rememberBrowser(pages, reply, browserToken)
      return seeOther(reply, nextPath(pages, shown.continuation))
    }
    case 'several': {
      const text = 'You are a user of several providers. Choose one, and enter your password again.'
      const { providers } = outcome
      return sendSignInPage(pages, reply, 200, {
        ...shown,
        providers,
        notice: { tone: 'bad', text },
      })
    }
    case 'refused': {
      const text = 'The email address or the password is incorrect.'
      return sendSignInPage(pages, reply, 401, { ...shown, notice: { tone: 'bad', text } })
    }
    case 'wait': {
      const minutes = Math.max(1, Math.ceil(outcome.waitMs / 60_000))
      const text = `Too many attempts. Try again in ${minutes} ${minutes === 1 ? 'minute' : 'minutes'}.`
      void reply.header('retry-after', Math.max(1, Math.ceil(outcome.waitMs / 1_000)))
      return sendSignInPage(pages, reply, 429, { ...shown, notice: { tone: 'bad', text } })
    }
  }
}

type SignInPageData = Omit<SignInPageProps, 'frame' | 'openidLabel'>

function sendSignInPage(
  pages: ConsoleSignInParts,
  reply: FastifyReply,
  status: number,
  shown: SignInPageData,
): FastifyReply {
  const openidLabel = pages.openid?.label
  const page = <SignInPage frame={pages} openidLabel={openidLabel} {...shown} />
  return sendProviderPage(reply, status, page)
}

/** Stores a token in the browser, so that its sign-ins are counted separately from guesses in other browsers. */
function rememberBrowser(
  { basePath, hostedUrl, console }: ConsoleSignInParts,
  reply: FastifyReply,
  token: string,
): void {
  const isSecure = new URL(hostedUrl).protocol === 'https:'
  void reply.setCookie(browserCookieName, token, {
    ...cookieOptions(basePath + consolePath, isSecure),
    sameSite: 'strict',
    maxAge: Math.floor(console.limits.knownBrowserMs / 1_000),
  })
}
