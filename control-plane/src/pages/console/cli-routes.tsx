import type { FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import {
  cancelCliSession,
  completeCliSession,
  type AnswerOutcome,
} from '@tollgate/domain/console/answer-cli-session'
import { findCliSession, type CliSession } from '@tollgate/domain/console/cli-sessions'
import { scopesOfRole } from '@tollgate/schemas/console-roles'
import { cliSessionCompleteSchema } from '@tollgate/schemas/http/cli-sessions'
import type { Clock } from '@tollgate/platform/clock/clock'
import type { ConsoleParts } from '@tollgate/domain/console/console-parts'
import type { Logger } from '@tollgate/platform/observability/logger'
import type { ApiServer } from '../../access/api-server.ts'
import { originOf } from '../../access/caller.ts'
import { requireProvider } from '../../access/require.ts'
import { cliSessionPartsOf, type CliSessionRouteParts } from '../../console/cli-session-parts.ts'
import { formFields } from '../form-fields.ts'
import { seeOther, sendProviderPage, type ProviderFrame } from '../provider/provider-page.tsx'
import { ProviderProblemError, providerProblems } from '../provider/provider-problem.tsx'
import { CliAnsweredPage, CliPage, cliPagePath } from './cli-page.tsx'
import { findVisitor, requireVisitor, type ConsoleVisitor } from './console-session.ts'
import { signInPath } from './paths.ts'
import type { ReadParts } from '../../access/read.ts'

export type CliPageParts = CliSessionRouteParts &
  ProviderFrame &
  ReadParts & { readonly clock: Clock; readonly logger: Logger }

const params = z.object({ sessionId: z.string() })
const schema = { hide: true, params }
const path = `${cliPagePath}/:sessionId`

/** Registers the pages on which a console user gives a secret key to a command line. */
export function registerCliPages(app: ApiServer, pages: CliPageParts): void {
  app.get(path, { schema }, async (request, reply) => {
    const sessionId = requireSessionId(request.params)
    const visitor = await findVisitor(pages, request)
    if (visitor === undefined) {
      return seeOther(reply, `${pages.basePath}${signInPath}?cli=${sessionId}`)
    }
    requireManager(visitor)
    const now = new Date(pages.clock.now())
    const cliSession = await requireOpenSession(pages, sessionId, now)
    const provider = await requireProvider(pages, visitor.session)
    const page = { frame: pages, visitor, provider, cliSession, now }
    return sendProviderPage(reply, 200, <CliPage {...page} />)
  })

  app.post(`${path}/approve`, { schema }, async (request, reply) => {
    const { session } = await requireManagerForm(pages, request)
    const form = cliSessionCompleteSchema.safeParse(formFields(request))
    const { isLive } = await requireProvider(pages, session)
    // The page offers only possible values, so another value did not come from it.
    if (!form.success || (form.data.environment === 'live' && !isLive)) {
      throw new ProviderProblemError(providerProblems.staleForm)
    }
    const outcome = await completeCliSession(
      cliSessionPartsOf(pages),
      requireSessionId(request.params),
      session,
      originOf(request),
      form.data.environment,
      new Date(pages.clock.now()),
      (error) => pages.logger.error({ err: error }, 'a key was issued but is not published yet'),
    )
    return sendAnswered(pages, reply, outcome, true)
  })

  app.post(`${path}/decline`, { schema }, async (request, reply) => {
    const { session } = await requireManagerForm(pages, request)
    const now = new Date(pages.clock.now())
    const sessionId = requireSessionId(request.params)
    const outcome = await cancelCliSession(cliSessionPartsOf(pages), sessionId, session, now)
    return sendAnswered(pages, reply, outcome, false)
  })
}

/** Returns the session id of the address. The address may contain any text, also text that PostgreSQL rejects. */
function requireSessionId({ sessionId }: z.infer<typeof params>): string {
  if (/^[0-9a-f]{32}$/.test(sessionId)) return sessionId
  throw new ProviderProblemError(providerProblems.noCliSession)
}

async function requireManagerForm(
  pages: { readonly clock: Clock; readonly console: ConsoleParts },
  request: FastifyRequest,
): Promise<ConsoleVisitor> {
  const visitor = await requireVisitor(pages, request)
  requireManager(visitor)
  return visitor
}

/** As in the API, only owners and admins may create keys. */
function requireManager({ session }: ConsoleVisitor): void {
  if (scopesOfRole(session.role).includes('manage')) return
  throw new ProviderProblemError(providerProblems.roleTooLow)
}

async function requireOpenSession(
  pages: { readonly console: ConsoleParts },
  sessionId: string,
  now: Date,
): Promise<CliSession> {
  const found = await findCliSession(pages.console.database.control, sessionId)
  if (found === undefined) throw new ProviderProblemError(providerProblems.noCliSession)
  if (found.outcome !== undefined) {
    throw new ProviderProblemError(providerProblems.cliSessionAnswered)
  }
  if (found.expiresAt <= now) throw new ProviderProblemError(providerProblems.cliSessionExpired)
  return found
}

function sendAnswered(
  pages: ProviderFrame,
  reply: FastifyReply,
  outcome: AnswerOutcome,
  isApproved: boolean,
): FastifyReply {
  switch (outcome) {
    case 'answered':
      return sendProviderPage(reply, 200, <CliAnsweredPage frame={pages} isApproved={isApproved} />)
    case 'answered-before':
      throw new ProviderProblemError(providerProblems.cliSessionAnswered)
    case 'not-found':
      throw new ProviderProblemError(providerProblems.cliSessionExpired)
  }
}
