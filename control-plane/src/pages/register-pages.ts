import cookie from '@fastify/cookie'
import formbody from '@fastify/formbody'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { ZodTypeProvider } from 'fastify-type-provider-zod'
import { TooManySessionsError } from '@tollgate/domain/sessions/too-many-sessions-error'
import type { CustomerAuth } from '../customer-auth/customer-auth.ts'
import type { ApiServer } from '../access/api-server.ts'
import { statusOf } from '../access/refusal-of.ts'
import { registerAccentStylesheet } from './accent-stylesheet.ts'
import { anonymousFrame } from './frame.ts'
import { installPageTime, type PageTimeParts } from './page-time.ts'
import { sendPage } from './page.tsx'
import { registerCheckout, type CheckoutPagesParts } from './checkout/register-checkout.ts'
import { registerUnsubscribePage } from './emails/unsubscribe-routes.tsx'
import { registerPortal, type PortalPagesParts } from './portal/register-portal.ts'
import { ProblemError, ProblemPage, problems, type Problem } from './problem.tsx'
import {
  registerProviderPages,
  type ProviderPagesParts,
} from './provider/register-provider-pages.ts'
import { noForeignOrigins, securityHeaders } from './security-headers.ts'
import { registerAuthorizePages } from './sign-in/authorize-routes.tsx'
import { registerConnectPages } from './sign-in/connect-routes.tsx'
import { registerUpstreamCallback } from './sign-in/upstream-routes.tsx'
import { catalogFaults } from './texts/faults.ts'
import type { ProviderFrame } from './provider/provider-page.tsx'

type Parts = PortalPagesParts & ProviderPagesParts & CheckoutPagesParts & PageTimeParts

/**
 * Registers the pages for customers under `/customer`, and the pages for providers. An error on these paths is also answered with a
 * page.
 */
export async function registerPages(
  app: ApiServer,
  pages: Parts,
  auth: CustomerAuth,
): Promise<void> {
  registerAccentStylesheet(app)
  await registerProviderPages(app, pages)
  const faults = catalogFaults()
  if (faults.length > 0) pages.logger.warn({ faults }, 'some page texts are shown in English')
  await app.register(async (instance) => {
    const scope = instance.withTypeProvider<ZodTypeProvider>()
    await scope.register(cookie)
    await scope.register(formbody)
    const headers = securityHeaders(noForeignOrigins)
    scope.addHook('onRequest', (_request, reply, done) => {
      void reply.headers(headers)
      done()
    })
    installProblemPages(scope, pages)
    installPageTime(scope, pages)
    registerPortal(scope, pages)
    registerCheckout(scope, pages)
    registerAuthorizePages(scope, { pages, auth })
    registerConnectPages(scope, { pages, auth })
    await registerUnsubscribePage(scope, pages)
    registerUpstreamCallback(scope, { pages, auth })
  })
}

function installProblemPages(app: ApiServer, pages: ProviderFrame): void {
  const send = (request: FastifyRequest, reply: FastifyReply, error: Error): FastifyReply => {
    const { problem, frame } = problemOfError(error, request.method)
    if (problem.status >= 500) request.log.error({ err: error }, 'a page failed')
    if (problem.status === 503) void reply.header('retry-after', 5)
    if (error instanceof TooManySessionsError) {
      void reply.header('retry-after', Math.max(1, Math.ceil(error.waitMs / 1_000)))
    }
    const page = request.checkout ?? request.portal ?? undefined
    const shown = frame ?? page?.frame ?? anonymousFrame(pages, request)
    const retryPath = problem.status === 503 ? retryPathOf(request, page?.path) : undefined
    return sendPage(reply, problem.status, ProblemPage({ frame: shown, problem, retryPath }))
  }
  app.setErrorHandler((error: Error, request, reply) => send(request, reply, error))
  app.get('/customer/*', { schema: { hide: true } }, () => {
    throw new ProblemError(problems.notFound)
  })
}

/** Returns the path at which the visitor can try again: the same page, or for a form the page that contains it. */
function retryPathOf({ method }: FastifyRequest, path: string | undefined): string | undefined {
  return method === 'GET' ? '' : path
}

function problemOfError(error: Error, method: string): Pick<ProblemError, 'problem' | 'frame'> {
  if (error instanceof ProblemError) return error
  if (error instanceof TooManySessionsError) {
    return { problem: problems.tooManyCheckouts, frame: undefined }
  }
  return { problem: problemOfStatus(statusOf(error), method), frame: undefined }
}

function problemOfStatus(status: number, method: string): Problem {
  if (status < 500) return { ...problems.notFound, status }
  // The service itself or the payment processor is unavailable. A page that is loaded may follow a payment, so its text must not
  // claim that nothing was changed.
  if (status === 503 || status === 502) {
    return method === 'GET' ? problems.unreadable : problems.unavailable
  }
  return problems.broken
}
