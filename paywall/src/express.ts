import type { Paywall } from './create-paywall.ts'
import { isGated, type HttpPaywallOptions } from './http-options.ts'
import { gateNodeRequest, type NodeRequest, type NodeResponse } from './node-gate.ts'

export type { HttpPaywallOptions } from './http-options.ts'

/** The part of Express's request that the middleware reads. */
export type ExpressRequest = NodeRequest & { readonly originalUrl?: string }

/** The part of Express's response that the middleware uses. Connect and node:http provide it too. */
export type ExpressResponse = NodeResponse & {
  writeHead(status: number, headers: Record<string, string>): unknown
  end(body: string): unknown
}

/**
 * Middleware for Express: `app.use('/api', expressPaywall(paywall))`. Put it after the middleware that authenticates and, if
 * clients send an `Idempotency-Key`, after the one that parses bodies.
 */
export function expressPaywall<Request extends ExpressRequest = ExpressRequest>(
  paywall: Paywall,
  options: HttpPaywallOptions<Request> = {},
): (request: Request, response: ExpressResponse, next: (error?: unknown) => void) => void {
  return (request, response, next) => {
    if (!isGated(request.method)) {
      next()
      return
    }
    const path = request.originalUrl ?? request.url ?? ''
    gateNodeRequest(paywall, options, request, response, path).then((gated) => {
      if (gated === 'admitted') next()
      else if (gated !== undefined) {
        response.writeHead(gated.status, { ...gated.headers })
        response.end(gated.body)
      }
    }, next)
  }
}
