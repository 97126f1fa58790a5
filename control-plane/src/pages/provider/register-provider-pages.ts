import cookie from '@fastify/cookie'
import formbody from '@fastify/formbody'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { ZodTypeProvider } from 'fastify-type-provider-zod'
import type { ApiServer } from '../../access/api-server.ts'
import { statusOf } from '../../access/refusal-of.ts'
import { registerConsolePages, type ConsolePagesParts } from '../console/register-console-pages.tsx'
import { registerFrontPage, type FrontPageParts } from '../front/register-front-page.tsx'
import { registerInboxPage } from '../sign-in/inbox-page.tsx'
import { sendProviderPage, type ProviderFrame } from './provider-page.tsx'
import { ProviderProblemError, ProviderProblemPage, providerProblems } from './provider-problem.tsx'

export type ProviderPagesParts = FrontPageParts & ConsolePagesParts

/** Registers the page at `/` and the pages under `/console`. An error on these paths is also answered with a page. */
export async function registerProviderPages(
  app: ApiServer,
  pages: ProviderPagesParts,
): Promise<void> {
  await app.register(async (instance) => {
    const scope = instance.withTypeProvider<ZodTypeProvider>()
    await scope.register(cookie)
    await scope.register(formbody)
    scope.setErrorHandler((error: Error, request, reply) =>
      sendProblem(pages, error, request, reply),
    )
    registerFrontPage(scope, pages)
    registerConsolePages(scope, pages)
    registerInboxPage(scope, pages)
  })
}

function sendProblem(
  pages: ProviderFrame,
  error: Error,
  request: FastifyRequest,
  reply: FastifyReply,
): FastifyReply {
  const problem = problemOf(error)
  if (problem.status >= 500) request.log.error({ err: error }, 'a page failed')
  if (problem.status === 503) void reply.header('retry-after', 5)
  return sendProviderPage(reply, problem.status, ProviderProblemPage({ frame: pages, problem }))
}

function problemOf(error: Error): ProviderProblemError['problem'] {
  if (error instanceof ProviderProblemError) return error.problem
  const status = statusOf(error)
  if (status < 500) return { ...providerProblems.notFound, status }
  return status === 503 || status === 502 ? providerProblems.unavailable : providerProblems.broken
}
