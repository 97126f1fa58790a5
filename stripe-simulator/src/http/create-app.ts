import Fastify, {
  type FastifyError,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
} from 'fastify'
import type { AdminParts } from '../admin/admin-routes.ts'
import type { Answer } from '../answer.ts'
import type { ApiParts } from '../api/serve-api.ts'
import { registerAdmin } from './register-admin.ts'
import { answerApi, registerApi } from './register-api.ts'
import { registerPages } from './register-pages.ts'
import { sendJson, type Origin } from './send.ts'

export type AppParts = ApiParts &
  AdminParts &
  Origin & {
    /** Called for errors that are bugs of the simulator. */
    readonly onError: (error: unknown) => void
  }

const bodyBytesMax = 1_048_576
/** Node's limit for all headers and the URL together, so that no id is too long to be looked up. */
const idLengthMax = 16_384

const notFound: Answer = { status: 404, body: { error: { message: 'Not Found' } } }
const failed: Answer = {
  status: 500,
  body: { error: { type: 'api_error', message: 'The simulator has failed: see its log.' } },
}

export function createApp(parts: AppParts): FastifyInstance {
  const answerNotFound = (request: FastifyRequest, reply: FastifyReply) =>
    request.url.startsWith('/v1/')
      ? answerApi(parts, undefined, request, reply)
      : sendJson(parts, reply, notFound)
  const app = Fastify({
    bodyLimit: bodyBytesMax,
    // Longer than clients keep idle connections open, so that the server never closes a connection first.
    keepAliveTimeout: 60_000,
    // Closing the server ends requests that a fault left unanswered.
    forceCloseConnections: true,
    exposeHeadRoutes: false,
    routerOptions: { maxParamLength: idLengthMax },
    // Called for paths that cannot be decoded.
    frameworkErrors: (_error, request, reply) => void answerNotFound(request, reply),
  })
  // Bodies stay text, because idempotency keys are compared with the body as sent.
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', { parseAs: 'string' }, (_request, body, done) => done(null, body))
  app.setErrorHandler((error: FastifyError, _request, reply) => {
    const malformed = answerToMalformed(error)
    if (malformed === undefined) parts.onError(error)
    return sendJson(parts, reply, malformed ?? failed)
  })
  app.setNotFoundHandler(answerNotFound)
  registerApi(app, parts)
  registerPages(app, parts)
  registerAdmin(app, parts)
  return app
}

/** Returns the answer to a request that Fastify refuses, or undefined for a bug of the simulator. */
function answerToMalformed({ code, statusCode = 500, message }: FastifyError): Answer | undefined {
  if (statusCode >= 500) return undefined
  const isTooLarge = code === 'FST_ERR_CTP_BODY_TOO_LARGE'
  const error = {
    type: 'invalid_request_error',
    message: isTooLarge ? 'The body is too large.' : message,
  }
  return { status: statusCode, body: { error } }
}
