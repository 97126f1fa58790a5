import type { Tracing } from '@tollgate/platform/observability/tracing'
import type { Fallback, FallbackRequest, HeaderList } from './http-front.ts'
import { knownMethods } from './known-methods.ts'
import { endWithStatus } from './trace-hot-routes.ts'

const traceHeaders: ReadonlySet<string> = new Set(['traceparent', 'tracestate'])

/**
 * Returns the fallback with a span for every request, which the control plane continues. The span has no route: only the control
 * plane knows it, and the path may contain a provider's own names of customers.
 */
export function traceFallback(tracing: Tracing, fallback: Fallback): Fallback {
  return async (request) => {
    const method = knownMethods.has(request.method) ? request.method : '_OTHER'
    const attributes = {
      'http.request.method': method,
      'tollgate.request_id': request.requestId,
    }
    const span = tracing.receive(method, Object.fromEntries(headersOf(request)), attributes)
    const others = request.headers.filter(([name]) => !traceHeaders.has(name))
    const headers = [...others, ...Object.entries(span.headers)]
    try {
      const answer = await span.run(() => fallback({ ...request, headers }))
      endWithStatus(span, answer.status)
      return answer
    } catch (error) {
      span.fail(error)
      throw error
    }
  }
}

function headersOf(request: FallbackRequest): HeaderList {
  return request.headers.filter(([name]) => traceHeaders.has(name))
}
