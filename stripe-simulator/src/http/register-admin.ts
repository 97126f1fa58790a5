import type { FastifyInstance } from 'fastify'
import { z } from 'zod'
import { adminRoutes, type AdminParts } from '../admin/admin-routes.ts'
import type { Answer } from '../answer.ts'
import { StripeApiError } from '../errors.ts'
import { addressOf, bodyOf, idOf } from './read-request.ts'
import { sendJson, type Origin } from './send.ts'

const prefix = '/_simulator'
const notJson: Answer = { status: 415, body: { error: { message: 'Send application/json.' } } }

export function registerAdmin(app: FastifyInstance, parts: AdminParts & Origin): void {
  void app.register(
    (admin, _options, done) => {
      // A browser sends a form from any page without a preflight request, but not JSON. So only JSON is accepted.
      admin.addHook('onRequest', async (request, reply) => {
        const isJson = request.headers['content-type']?.startsWith('application/json') === true
        if (request.method === 'POST' && !isJson) return sendJson(parts, reply, notJson)
      })
      admin.setErrorHandler((error, _request, reply) => {
        const refusal = refusalOf(error)
        if (refusal === undefined) throw error
        return sendJson(parts, reply, refusal)
      })
      admin.setNotFoundHandler((request, reply) => {
        const path = addressOf(request).path.slice(prefix.length + 1)
        const message = `The simulator has no ${request.method} ${path}.`
        const body = { error: { type: 'invalid_request_error', message } }
        return sendJson(parts, reply, { status: 404, body })
      })
      for (const { method, path, answer } of adminRoutes) {
        admin.route({
          method,
          url: `/${path}`,
          handler: async (request, reply) => {
            const body: unknown = JSON.parse(bodyOf(request) || '{}')
            return sendJson(parts, reply, await answer(parts, body, idOf(request)))
          },
        })
      }
      done()
    },
    { prefix },
  )
}

/** Returns the answer to an invalid request of a test, or undefined for a bug of the simulator. */
function refusalOf(error: unknown): Answer | undefined {
  if (error instanceof StripeApiError) return { status: error.status, body: { error: error.body } }
  if (error instanceof z.ZodError || error instanceof SyntaxError) {
    return { status: 400, body: { error: { message: error.message } } }
  }
  return undefined
}
