import type { FastifyReply, FastifyRequest } from 'fastify'
import { basePathOf, staticFilesOf } from '../static-files.ts'
import { sendProviderPage, wantsPage } from './provider-page.tsx'
import { ProviderProblemPage, providerProblems } from './provider-problem.tsx'

export type NotFoundPage = (
  request: FastifyRequest,
  reply: FastifyReply,
) => FastifyReply | undefined

/** Returns a handler that sends a page to browsers for unknown paths. Programs get the API's own response. */
export function createNotFoundPage(hostedUrl: string): NotFoundPage {
  const basePath = basePathOf(hostedUrl)
  const frame = { basePath, files: staticFilesOf(basePath) }
  return (request, reply) => {
    if (!wantsPage(request)) return undefined
    const page = ProviderProblemPage({ frame, problem: providerProblems.notFound })
    return sendProviderPage(reply.header('vary', 'accept'), 404, page)
  }
}
