import type { Paywall } from './create-paywall.ts'
import { isGated, type HttpPaywallOptions } from './http-options.ts'
import { gateNodeRequest, type NodeRequest, type NodeResponse } from './node-gate.ts'

export type { HttpPaywallOptions } from './http-options.ts'

/** The part of Fastify's request that the hook reads. */
export type FastifyRequest = NodeRequest & { readonly originalUrl: string }

/** The part of Fastify's reply that the hook uses. */
export type FastifyReply = {
  readonly raw: NodeResponse
  code(status: number): unknown
  headers(values: Record<string, string>): unknown
  send(body: string): unknown
  hijack(): unknown
}

/**
 * Hook for Fastify, for one route or for all routes: `app.addHook('preHandler', fastifyPaywall(paywall))`. Add it after the hooks
 * that authenticate.
 */
export function fastifyPaywall<Request extends FastifyRequest = FastifyRequest>(
  paywall: Paywall,
  options: HttpPaywallOptions<Request> = {},
): (request: Request, reply: FastifyReply) => Promise<unknown> {
  return async (request, reply) => {
    if (!isGated(request.method)) return undefined
    const { originalUrl } = request
    const gated = await gateNodeRequest(paywall, options, request, reply.raw, originalUrl)
    if (gated === 'admitted') return undefined
    if (gated === undefined) {
      reply.hijack()
      return reply
    }
    reply.code(gated.status)
    reply.headers({ ...gated.headers })
    reply.send(gated.body)
    return reply
  }
}
