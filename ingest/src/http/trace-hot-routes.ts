import type { Span, Tracing } from '@tollgate/platform/observability/tracing'
import type { Answer, FrontOptions, HotHead, HotRoute } from './http-front.ts'

/**
 * Returns the routes with a span for every request. The span starts when the body is complete and ends when the response is ready.
 * A failure is converted to its response here, so that the span records the status that the client gets.
 */
export function traceHotRoutes(
  tracing: Tracing,
  routes: ReadonlyMap<string, HotRoute>,
  answerFailure: FrontOptions['answerFailure'],
): ReadonlyMap<string, HotRoute> {
  const entries = [...routes].map(([path, route]): [string, HotRoute] => [
    path,
    traceHotRoute(tracing, path, route, answerFailure),
  ])
  return new Map(entries)
}

function traceHotRoute(
  tracing: Tracing,
  path: string,
  route: HotRoute,
  answerFailure: FrontOptions['answerFailure'],
): HotRoute {
  const name = `POST ${path}`
  const attributes = { 'http.request.method': 'POST', 'http.route': path }
  const begin = ({ trace, requestId }: HotHead): Span =>
    tracing.receive(name, trace ?? {}, { ...attributes, 'tollgate.request_id': requestId })
  return {
    refuse(head) {
      const refusal = route.refuse(head)
      if (refusal !== undefined) endWith(begin(head), refusal)
      return refusal
    },
    answer(head, body, caller) {
      const span = begin(head)
      const fail = (error: unknown): Answer => answerFailure(error, head.requestId)
      const work = (): Answer | Promise<Answer> => route.answer(head, body, caller)
      if (!span.isSampled) return span.run(work)
      try {
        const answer = span.run(work)
        if (!(answer instanceof Promise)) return endWith(span, answer)
        return answer.catch(fail).then((made) => endWith(span, made))
      } catch (error) {
        return endWith(span, fail(error))
      }
    },
  }
}

function endWith(span: Span, answer: Answer): Answer {
  endWithStatus(span, answer.status)
  return answer
}

/** Marks the span as failed only for statuses of 500 and above: a client's error is not an error of this service. */
export function endWithStatus(span: Span, status: number): void {
  span.set({ 'http.response.status_code': status })
  if (status >= 500) span.fail(String(status))
  else span.end()
}
