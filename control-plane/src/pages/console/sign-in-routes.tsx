import type { FastifyReply, FastifyRequest } from 'fastify'
import { signIn, type SignInOutcome } from '@tollgate/domain/console/sign-in'
import { signInSchema } from '@tollgate/schemas/http/console-auth'
import type { ConsoleParts } from '@tollgate/domain/console/console-parts'
import type { ApiServer } from '../../access/api-server.ts'
import { browserCookieName, readBrowserCookie } from '../../console/browser-cookie.ts'
import { originOf } from '../../access/caller.ts'
import { cookieOptions } from '../cookies.ts'
import { formFields } from '../form-fields.ts'
import { submittedFormOf } from '../submitted-form.ts'
import { seeOther, sendProviderPage, type ProviderFrame } from '../provider/provider-page.tsx'
import {
  consolePath,
  findVisitor,
  issueFormToken,
  requireIssuedFormToken,
  setSessionCookie,
  type ConsoleSessionParts,
} from './console-session.ts'
import { consolePageIn } from './next-path.ts'
import { SignInPage, signInPath, type SignInPageProps } from './sign-in-page.tsx'
import type { StaticFiles } from '../static-files.ts'

export type ConsoleSignInParts = ConsoleSessionParts & {
  readonly console: ConsoleParts
  readonly files: StaticFiles
}

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
        ? undefined
        : ({ tone: 'good', text: 'Your password is set. Sign in with it.' } as const)
    const email = submitted?.fields['email']
    return sendSignInPage(pages, reply, 200, { formToken, ...continuation, notice, email })
  })

  app.post(signInPath, { schema: { hide: true } }, async (request, reply) => {
    requireIssuedFormToken(request)
    const fields = formFields(request)
    const shown = {
      formToken: issueFormToken(pages, request, reply),
      ...continuationOf(fields),
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
      return seeOther(reply, nextPath(pages, shown))
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

type SignInPageData = Omit<SignInPageProps, 'frame'>

function sendSignInPage(
  pages: ProviderFrame,
  reply: FastifyReply,
  status: number,
  shown: SignInPageData,
): FastifyReply {
  return sendProviderPage(reply, status, <SignInPage frame={pages} {...shown} />)
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

type Continuation = Pick<SignInPageProps, 'cliSessionId' | 'next'>

/**
 * Returns the CLI session or the page of the console with which the user continues. Any other address is ignored, so the page never
 * redirects to another site.
 */
function continuationOf(given: FastifyRequest['query']): Continuation {
  const { cli, next } = given as { readonly cli?: unknown; readonly next?: unknown }
  const isCliSession = typeof cli === 'string' && /^[0-9a-f]{32}$/.test(cli)
  return { cliSessionId: isCliSession ? cli : undefined, next: consolePageIn(next) }
}

function nextPath(
  { basePath }: { readonly basePath: string },
  { cliSessionId, next = consolePath }: Continuation,
): string {
  const path = cliSessionId === undefined ? next : `${consolePath}/cli/${cliSessionId}`
  return basePath + path
}
