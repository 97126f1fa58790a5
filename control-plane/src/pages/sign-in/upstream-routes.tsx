import { randomBytes } from 'node:crypto'
import type { FastifyReply } from 'fastify'
import { z } from 'zod'
import { resolveSignInAddress } from '@tollgate/domain/customer-auth/upstream-identities'
import {
  saveUpstreamSignIn,
  useUpstreamSignIn,
} from '@tollgate/domain/customer-auth/upstream-sign-ins'
import { environments } from '@tollgate/schemas/environment'
import { shownNameOf } from '../../customer-auth/client-metadata.ts'
import { queryOf } from '../../customer-auth/read-request.ts'
import { checksOf, reasonOf } from '../../upstream/checks.ts'
import {
  upstreamNames,
  type Upstream,
  type UpstreamAccount,
  type UpstreamName,
} from '../../upstream/upstream.ts'
import type { ApiServer } from '../../access/api-server.ts'
import { commit } from '../../access/commit.ts'
import { originOf } from '../../access/caller.ts'
import type { SignInPageParts as PageParts } from './sign-in-page-parts.ts'
import type { Notice } from '../notice.tsx'
import { sendPage } from '../page.tsx'
import { ProblemError, problems } from '../problem.tsx'
import { requireAttemptLeft } from './require-attempt-left.ts'
import { UpstreamRedirectPage } from './upstream-pages.tsx'
import {
  findBrowserToken,
  signIn,
  type Exchange,
  type SignInParts,
  type Visitor,
} from './visitor.ts'

/**
 * Sends the browser to the upstream. The response is a page that redirects by itself, not an HTTP redirect. Browsers check the
 * redirects of a form against the page's policy, which would have to name every host in the upstream's sign-in.
 */
export async function redirectToUpstream(
  parts: SignInParts,
  { request, reply }: Exchange,
  visitor: Visitor,
): Promise<FastifyReply> {
  const { pages, auth } = parts
  const { caller, browserToken, frame, path: pagePath } = visitor
  const found = findUpstream(parts, request.params)
  if (found === undefined) throw new ProblemError(problems.notFound, frame)
  const [name, upstream] = found
  const { codesPerAddressMax } = auth.config
  await requireAttemptLeft(parts, visitor, 'code-address', codesPerAddressMax, request)
  const { providerId, environment } = caller
  const state = `${environment}.${randomBytes(32).toString('base64url')}`
  let address: string
  try {
    const checks = checksOf(browserToken, state)
    address = (await upstream.authorizeUrl(callbackUrl(pages, name), checks)).href
  } catch (error) {
    request.log.warn(
      { upstream: name, reason: reasonOf(error) },
      'could not start a sign-in at an upstream',
    )
    return reply.redirect(noticePath(pagePath, name, 'failed'), 303)
  }
  const now = new Date(pages.clock.now())
  const started = { state, browserToken, upstream: name, pagePath }
  await pages.database
    .of(providerId)
    .in(environment)
    .write((sql) => saveUpstreamSignIn(sql, providerId, started, now))
  void reply.header('refresh', `0; url=${address}`)
  const { label } = upstream
  return sendPage(
    reply,
    200,
    <UpstreamRedirectPage visitor={visitor} label={label} address={address} />,
  )
}

/**
 * Registers the address to which an upstream returns the browser. There is one address per upstream, for all pages, providers and
 * environments.
 */
export function registerUpstreamCallback(app: ApiServer, parts: SignInParts): void {
  const schema = { hide: true }
  app.get('/customer/sign-in/:upstream/callback', { schema }, async (request, reply) => {
    return completeUpstreamSignIn(parts, { request, reply })
  })
}

/**
 * Completes the sign-in. Only the state decides where the browser continues; other parts of the address do not. After a crash
 * before the session is stored, the person must start again, because the state and the code of the upstream are used up.
 */
async function completeUpstreamSignIn(
  parts: SignInParts,
  { request, reply }: Exchange,
): Promise<FastifyReply> {
  const { pages } = parts
  const query = queryOf(request)
  const state = query.get('state') ?? ''
  const environment = environments.find((each) => state.startsWith(`${each}.`))
  const browserToken = findBrowserToken(pages, request)
  const found = findUpstream(parts, request.params)
  if (environment === undefined || browserToken === undefined || found === undefined) {
    throw new ProblemError(problems.signInEnded)
  }
  const [name, upstream] = found
  const { database } = pages.publisher
  const returnedSignIn = { state, browserToken, upstream: name }
  const now = new Date(pages.clock.now())
  const started = await useUpstreamSignIn(database, environment, returnedSignIn, now)
  if (started === undefined) throw new ProblemError(problems.signInEnded)
  const { providerId, pagePath } = started
  const refuse = (notice: UpstreamNotice): FastifyReply =>
    reply.redirect(noticePath(pagePath, name, notice), 303)
  if (query.get('error') === 'access_denied') return refuse('denied')
  const callback = new URL(callbackUrl(pages, name))
  callback.search = query.toString()
  let account: UpstreamAccount
  try {
    account = await upstream.account(callback, checksOf(browserToken, state))
  } catch (error) {
    request.log.warn(
      { upstream: name, reason: reasonOf(error) },
      'could not complete a sign-in at an upstream',
    )
    return refuse('failed')
  }
  const verified = emailSchema.safeParse(account.verifiedEmail)
  if (!verified.success) return refuse('unverified')
  const caller = { providerId, environment }
  const { identity } = account
  const operation = {
    ...caller,
    now,
    actor: { ...originOf(request), name: 'customer:new' },
    requestId: request.id,
    idempotencyKey: null,
  }
  const email = await commit(pages, operation, (work) =>
    resolveSignInAddress(work, identity, verified.data),
  )
  if (email === undefined) return refuse('taken')
  const session = { email, name: shownNameOf(account.name) ?? null, identity }
  await signIn(parts, reply, { caller }, session)
  return reply.redirect(pagePath, 303)
}

const emailSchema = z.email().max(254)

/** Notices for a browser that returned without a sign-in. */
const upstreamNotices = {
  denied: 'signIn:upstreamDenied',
  unverified: 'signIn:upstreamUnverified',
  taken: 'signIn:upstreamTaken',
  failed: 'signIn:upstreamFailed',
} as const

type UpstreamNotice = keyof typeof upstreamNotices

function noticePath(pagePath: string, name: UpstreamName, notice: UpstreamNotice): string {
  return `${pagePath}?${new URLSearchParams({ upstream: name, notice }).toString()}`
}

/** Returns the notice that a page's query names. The text comes from the catalog, never from the query. */
export function upstreamNoticeOf(
  parts: SignInParts,
  { frame }: Visitor,
  query: Readonly<Record<string, unknown>>,
): Notice | undefined {
  const [, upstream] = findUpstream(parts, query) ?? []
  const notice = (Object.keys(upstreamNotices) as UpstreamNotice[]).find(
    (each) => each === query['notice'],
  )
  if (upstream === undefined || notice === undefined) return undefined
  return { tone: 'bad', text: frame.t(upstreamNotices[notice], { name: upstream.label }) }
}

function findUpstream(
  { auth }: SignInParts,
  named: unknown,
): readonly [UpstreamName, Upstream] | undefined {
  const { upstream: given } = named as { readonly upstream?: unknown }
  const name = upstreamNames.find((each) => each === given)
  const upstream = name && auth.upstreams.get(name)
  return name === undefined || upstream === undefined ? undefined : [name, upstream]
}

function callbackUrl({ hostedUrl }: PageParts, name: UpstreamName): string {
  return `${hostedUrl}/customer/sign-in/${name}/callback`
}
