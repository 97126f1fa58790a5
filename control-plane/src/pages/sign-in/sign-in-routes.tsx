import type { FastifyReply } from 'fastify'
import { z } from 'zod'
import { endBrowserSession } from '@tollgate/domain/customer-auth/browser-sessions'
import {
  findPendingSignIn,
  tryCode,
  type PendingSignIn,
} from '@tollgate/domain/customer-auth/sign-in-codes'
import { RecipientRefusedError } from '../../customer-auth/mailer.ts'
import type { ApiServer } from '../../access/api-server.ts'
import { read } from '../../access/read.ts'
import { formFields } from '../form-fields.ts'
import { sendPage } from '../page.tsx'
import { ProblemError, problems } from '../problem.tsx'
import { inboxPath } from './inbox-page.tsx'
import { sendCode } from './send-code.ts'
import { CodePage, EmailPage } from './sign-in-pages.tsx'
import { requireAttemptLeft } from './require-attempt-left.ts'
import { redirectToUpstream, upstreamNoticeOf } from './upstream-routes.tsx'
import {
  clearSignIn,
  sessionTokenOf,
  signIn,
  type Exchange,
  type SignInParts,
  type Visitor,
} from './visitor.ts'

/** Finds the visitor of a page, or ends the request with a page that explains why there is none. */
type FindVisitor = (exchange: Exchange) => Promise<Visitor>

/**
 * Shows the sign-in to a visitor who is not signed in: the form for the email address, or the form for the code that was sent to
 * it.
 */
export async function showSignIn(
  parts: SignInParts,
  { request, reply }: Exchange,
  visitor: Visitor,
): Promise<FastifyReply> {
  const { step, ...query } = request.query as Readonly<Record<string, unknown>>
  const pending = step === 'code' ? await pendingOf(parts, visitor) : undefined
  const notice = upstreamNoticeOf(parts, visitor, query)
  return pending === undefined
    ? sendPage(reply, 200, <EmailPage {...emailPageOf(parts, visitor)} notice={notice} />)
    : sendPage(reply, 200, <CodePage {...codePageOf(parts, visitor, pending)} />)
}

/** Registers the forms of a page that requires a sign-in, below the page's own path. */
export function registerSignInForms(
  app: ApiServer,
  parts: SignInParts,
  pagePath: string,
  find: FindVisitor,
): void {
  const { pages } = parts
  const schema = { hide: true }

  app.post(`${pagePath}/email`, { schema }, async (request, reply) => {
    const visitor = await find({ request, reply })
    return requestCode(parts, { request, reply }, visitor)
  })

  app.post(`${pagePath}/code`, { schema }, async (request, reply) => {
    const visitor = await find({ request, reply })
    return enterCode(parts, { request, reply }, visitor)
  })

  app.post(`${pagePath}/upstream/:upstream`, { schema }, async (request, reply) => {
    const visitor = await find({ request, reply })
    return redirectToUpstream(parts, { request, reply }, visitor)
  })

  app.post(`${pagePath}/sign-out`, { schema }, async (request, reply) => {
    const { caller, path } = await find({ request, reply })
    const { providerId, environment } = caller
    const token = sessionTokenOf(pages, request, caller)
    if (token !== undefined) {
      const rows = pages.database.of(providerId).in(environment)
      await rows.write((sql) => endBrowserSession(sql, providerId, token))
    }
    clearSignIn(pages, reply, caller)
    return reply.redirect(path, 303)
  })
}

const emailSchema = z.email().max(254)

/** Sends a code. The response is the same whether or not the address belongs to a customer. */
async function requestCode(
  parts: SignInParts,
  { request, reply }: Exchange,
  visitor: Visitor,
): Promise<FastifyReply> {
  const { auth } = parts
  const { frame } = visitor
  const typed = (formFields(request)['email'] ?? '').trim()
  const parsed = emailSchema.safeParse(typed)
  const refuseEmail = () => {
    const notice = { tone: 'bad', text: frame.t('signIn:emailInvalid') } as const
    const shown = emailPageOf(parts, visitor)
    return sendPage(reply, 400, <EmailPage {...shown} email={typed} notice={notice} />)
  }
  if (!parsed.success) return refuseEmail()
  const email = parsed.data
  if (!auth.mailer.isReady) throw new ProblemError(problems.mailUnavailable, frame)
  const { codesPerAddressMax } = auth.config
  await requireAttemptLeft(parts, visitor, 'code-address', codesPerAddressMax, request)
  try {
    await sendCode(parts, visitor, email)
  } catch (error) {
    if (error instanceof RecipientRefusedError) return refuseEmail()
    if (error instanceof ProblemError) throw error
    request.log.error({ err: error }, 'could not send a sign-in code')
    throw new ProblemError(problems.mailUnavailable, frame)
  }
  return reply.redirect(`${visitor.path}?step=code`, 303)
}

async function enterCode(
  parts: SignInParts,
  { request, reply }: Exchange,
  visitor: Visitor,
): Promise<FastifyReply> {
  const { pages, auth } = parts
  const { caller, frame, browserToken, path } = visitor
  const { guessesPerAddressMax, codeAttemptsMax: attemptsMax } = auth.config
  await requireAttemptLeft(parts, visitor, 'guess-address', guessesPerAddressMax, request)
  const code = (formFields(request)['code'] ?? '').replaceAll(/[\s-]/g, '')
  const { providerId, environment } = caller
  const now = new Date(pages.clock.now())
  const outcome = await pages.database
    .of(providerId)
    .in(environment)
    .write((sql) => tryCode(sql, providerId, { browserToken, code }, { attemptsMax, now }))
  if (outcome.kind === 'right') {
    await signIn(parts, reply, visitor, {
      email: outcome.email,
      name: null,
      identity: null,
    })
    return reply.redirect(path, 303)
  }
  const mayTryAgain = outcome.kind === 'wrong' && outcome.attemptsLeft > 0
  const pending = mayTryAgain ? await pendingOf(parts, visitor) : undefined
  if (pending === undefined) {
    const notice = { tone: 'bad', text: frame.t('signIn:codeEnded') } as const
    const shown = emailPageOf(parts, visitor)
    return sendPage(reply, 400, <EmailPage {...shown} notice={notice} />)
  }
  const notice = { tone: 'bad', text: frame.t('signIn:codeWrong') } as const
  const shown = { ...codePageOf(parts, visitor, pending), notice }
  return sendPage(reply, 400, <CodePage {...shown} />)
}

function pendingOf({ pages }: SignInParts, { caller, browserToken }: Visitor) {
  const now = new Date(pages.clock.now())
  return read(pages, caller, (sql) => findPendingSignIn(sql, caller.providerId, browserToken, now))
}

function emailPageOf({ auth }: SignInParts, visitor: Visitor) {
  return { visitor, upstreams: auth.upstreams }
}

function codePageOf({ pages, auth }: SignInParts, visitor: Visitor, pending: PendingSignIn) {
  const shown = auth.mailer.hasInbox ? `${pages.basePath}${inboxPath}` : undefined
  return { visitor, ...pending, inboxPath: shown }
}
