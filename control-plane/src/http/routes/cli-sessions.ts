import { z } from 'zod'
import {
  cancelCliSession,
  completeCliSession,
  exchangeCliSession,
  type AnswerOutcome,
  type Exchange,
} from '@tollgate/domain/console/answer-cli-session'
import { openCliSession, userCodeOf } from '@tollgate/domain/console/cli-sessions'
import { cliSessionPageUrl } from '@tollgate/domain/console/console-pages'
import { generateToken } from '@tollgate/domain/console/tokens'
import {
  cliSessionAnsweredSchema,
  cliSessionCompleteSchema,
  cliSessionExchangeSchema,
  cliSessionOpenedSchema,
  type CliSessionExchangeBody,
} from '@tollgate/schemas/http/cli-sessions'
import { requiredReference } from '@tollgate/schemas/http/fields'
import type { Clock } from '@tollgate/platform/clock/clock'
import type { Logger } from '@tollgate/platform/observability/logger'
import { cliSessionPartsOf, type CliSessionRouteParts } from '../../console/cli-session-parts.ts'
import { refusals } from '../../errors.ts'
import type { ApiServer } from '../../access/api-server.ts'
import { bearerToken, originOf, sessionOf } from '../../access/caller.ts'
import { definedFields } from '../../domain/defined-fields.ts'

type Parts = CliSessionRouteParts & {
  readonly clock: Clock
  readonly logger: Logger
  readonly hostedUrl: string
}

const tags = ['Console']
const path = '/v1/ui/provider/auth/cli-init/sessions'
const params = z.object({ sessionId: requiredReference })

/** Registers the routes for the command line, which has no key yet. */
export function registerOpenCliSessionRoutes(app: ApiServer, parts: Parts): void {
  const security: [] = []
  app.post(
    path,
    {
      schema: {
        tags,
        security,
        description:
          'Opens a session for a command-line client. The page of `authUrl` shows the `User-Agent` of this request as the ' +
          'device that asks, and `userCode` for the user to compare.',
        response: { 201: cliSessionOpenedSchema },
      },
    },
    async (request, reply) => {
      const pollToken = generateToken()
      const { control } = parts.console.database
      const device = request.headers['user-agent']
      const opener = { pollToken, address: request.ip, device }
      const session = await openCliSession(control, opener, new Date(parts.clock.now()))
      if (session === undefined) throw refusals.tooManyCliSessions()
      const { sessionId } = session
      const authUrl = cliSessionPageUrl(parts.hostedUrl, sessionId)
      const userCode = userCodeOf(sessionId)
      return reply.code(201).send({ sessionId, authUrl, pollToken, userCode })
    },
  )

  app.post(
    `${path}/:sessionId/exchange`,
    {
      schema: {
        tags,
        security: [{ pollToken: [] }],
        params,
        response: { 200: cliSessionExchangeSchema },
      },
    },
    async (request) => {
      const now = new Date(parts.clock.now())
      const { sessionId } = request.params
      const token = bearerToken(request) ?? ''
      const exchange = await exchangeCliSession(cliSessionPartsOf(parts), sessionId, token, now)
      if (exchange === undefined) throw refusals.badPollToken()
      return exchangeToHttp(exchange)
    },
  )
}

/** Registers the routes for the console user who approves or denies the session. Only owners and admins may create keys. */
export function registerAnswerCliSessionRoutes(app: ApiServer, parts: Parts): void {
  app.post(
    `${path}/:sessionId/complete`,
    {
      schema: {
        tags,
        params,
        body: cliSessionCompleteSchema,
        response: { 200: cliSessionAnsweredSchema },
      },
    },
    async (request) => {
      const { sessionId } = request.params
      const { environment } = request.body
      const outcome = await completeCliSession(
        cliSessionPartsOf(parts),
        sessionId,
        sessionOf(request),
        originOf(request),
        environment,
        new Date(parts.clock.now()),
        (error) => parts.logger.error({ err: error }, 'a key was issued but is not published yet'),
      )
      return answerToHttp(outcome, sessionId)
    },
  )

  app.post(
    `${path}/:sessionId/cancel`,
    { schema: { tags, params, response: { 200: cliSessionAnsweredSchema } } },
    async (request) => {
      const { sessionId } = request.params
      const now = new Date(parts.clock.now())
      const user = sessionOf(request)
      return answerToHttp(
        await cancelCliSession(cliSessionPartsOf(parts), sessionId, user, now),
        sessionId,
      )
    },
  )
}

function answerToHttp(outcome: AnswerOutcome, sessionId: string): { success: true } {
  switch (outcome) {
    case 'answered':
      return { success: true }
    case 'answered-before':
      throw refusals.cliSessionAnswered(sessionId)
    case 'not-found':
      throw refusals.cliSessionNotFound(sessionId)
  }
}

function exchangeToHttp(exchange: Exchange): CliSessionExchangeBody {
  if (exchange.status !== 'complete') return { status: exchange.status }
  const { status, email, environment, secretKey } = exchange
  const warning =
    secretKey === undefined ? 'The secret key was handed out before, and is not told again' : null
  return { status, email, environment, ...definedFields({ secretKey, warning }) }
}
