import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Span, Tracing } from '@tollgate/platform/observability/tracing'
import type { ApiServer } from '../../access/api-server.ts'
import { callerOf } from '../../access/caller.ts'

/**
 * Creates a span for every request, named by the route as declared. The path that the client sent is not exported. Install it
 * before all hooks that must run inside the span.
 */
export function installTracing(app: ApiServer, tracing: Tracing): void {
  const spans = new WeakMap<FastifyRequest, Span>()
  app.addHook('onRequest', (request, _reply, done) => {
    const span = tracing.receive(spanNameOf(request), headersOf(request), attributesOf(request))
    spans.set(request, span)
    span.run(done)
  })
  // The body arrives in events of the connection, outside any span, so the span is entered again.
  app.addHook('preValidation', (request, _reply, done) => {
    const span = spans.get(request)
    if (span === undefined) done()
    else span.run(done)
  })
  app.addHook('onResponse', (request, reply, done) => {
    const span = spans.get(request)
    spans.delete(request)
    if (span !== undefined) endSpan(span, request, reply)
    done()
  })
  app.addHook('onRequestAbort', (request, done) => {
    const span = spans.get(request)
    spans.delete(request)
    span?.fail('aborted')
    done()
  })
}

function endSpan(span: Span, request: FastifyRequest, reply: FastifyReply): void {
  const caller = request.credential === null ? undefined : callerOf(request)
  span.set({
    'http.response.status_code': reply.statusCode,
    ...(caller && { 'tollgate.environment': caller.environment }),
  })
  if (reply.statusCode >= 500) span.fail(String(reply.statusCode))
  else span.end()
}

function spanNameOf({ method, routeOptions }: FastifyRequest): string {
  return routeOptions.url === undefined ? method : `${method} ${routeOptions.url}`
}

function attributesOf({ id, method, routeOptions }: FastifyRequest): Record<string, string> {
  const route = routeOptions.url
  return {
    'http.request.method': method,
    'tollgate.request_id': id,
    ...(route !== undefined && { 'http.route': route }),
  }
}

function headersOf({ headers }: FastifyRequest): { traceparent: string; tracestate: string } {
  const { traceparent, tracestate } = headers
  return { traceparent: traceparent?.toString() ?? '', tracestate: tracestate?.toString() ?? '' }
}
