import { randomBytes } from 'node:crypto'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import type { ConsoleParts } from '@tollgate/domain/console/console-parts'
import type { ApiServer } from '../../access/api-server.ts'
import { sendCompressed } from '../compressed.ts'
import { seeOther, type ProviderFrame } from '../provider/provider-page.tsx'
import { ProviderProblemError, providerProblems } from '../provider/provider-problem.tsx'
import { noForeignOrigins, securityHeaders } from '../security-headers.ts'
import { consolePageOf, readConsoleApp, type ConsoleApp } from './console-app.ts'
import { consolePath } from './paths.ts'
import { findVisitor, setSessionCookie, type ConsoleSessionParts } from './console-session.ts'
import { signInPathFor } from './next-path.ts'

type Parts = ProviderFrame & ConsoleSessionParts & { readonly console: ConsoleParts }

const filesPath = `${consolePath}/assets`
/** The name of a file contains a digest of it, so browsers may cache it for a year. */
const filesCacheControl = 'public, max-age=31536000, immutable'

/**
 * Registers the console: its page at every path under `/console` that has no other page, and the files of the page. The page shows data
 * of the API according to its address. A visitor who is not signed in continues at this address after the sign-in.
 */
export function registerConsoleApp(app: ApiServer, pages: Parts): void {
  const send = async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
    const visitor = await findVisitor(pages, request)
    if (visitor === undefined) return seeOther(reply, pages.basePath + signInPathFor(request.url))
    // A browser that signed in under an earlier version has no cookie for the API. Without it, the console would open the sign-in page,
    // which would lead back to the console.
    setSessionCookie(pages, reply, visitor.accessToken, visitor.session.expiresAt)
    return sendConsolePage(reply, requireConsoleApp(), pages.basePath)
  }
  app.get(consolePath, { schema: { hide: true } }, send)
  app.get(`${consolePath}/*`, { schema: { hide: true } }, send)

  const params = z.object({ name: z.string() })
  app.get(`${filesPath}/:name`, { schema: { hide: true, params } }, (request, reply) => {
    const file = requireConsoleApp().files.get(request.params.name)
    if (file === undefined) throw new ProviderProblemError(providerProblems.notFound)
    void reply.type(file.type).header('cache-control', filesCacheControl)
    void reply.header('x-content-type-options', 'nosniff')
    return sendCompressed(request, reply, file.content)
  })
}

function requireConsoleApp(): ConsoleApp {
  const app = readConsoleApp()
  if (app === undefined) throw new ProviderProblemError(providerProblems.consoleNotBuilt)
  return app
}

function sendConsolePage(reply: FastifyReply, app: ConsoleApp, basePath: string): FastifyReply {
  const nonce = randomBytes(18).toString('base64')
  return reply
    .headers(securityHeaders({ ...noForeignOrigins, styles: [`'nonce-${nonce}'`] }))
    .type('text/html; charset=utf-8')
    .send(consolePageOf(app, basePath + filesPath, nonce))
}
