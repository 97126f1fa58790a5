import type { Attributes, Span, SpanKind, Tracing } from './tracing.ts'

/**
 * Makes a call, and a span of it where a sampled trace runs. What it returns is what the call returned: the same promise,
 * and no promise where there was none.
 */
export function tracedCall<Result>(
  tracing: Tracing,
  name: string,
  kind: SpanKind,
  attributes: Attributes,
  call: () => Result,
): Result {
  const span = tracing.begin(name, kind, attributes)
  return span === undefined ? call() : endAfter(span, call)
}

/** Ends the span when the work has ended, and as it has ended. */
export function endAfter<Result>(span: Span, work: () => Result): Result {
  try {
    const result = work()
    if (result instanceof Promise) {
      result.then(
        () => span.end(),
        (error: unknown) => span.fail(error),
      )
    } else span.end()
    return result
  } catch (error) {
    span.fail(error)
    throw error
  }
}

/** The port with some of its calls replaced. All others reach it as they are. */
export function withCalls<Port extends object>(port: Port, calls: Partial<Port>): Port {
  const others = new Map<PropertyKey, unknown>()
  return new Proxy(port, {
    get(target, name) {
      if (name in calls) return calls[name as keyof Port]
      if (others.has(name)) return others.get(name)
      const value: unknown = Reflect.get(target, name, target)
      if (typeof value !== 'function') return value
      // An adapter with private fields is only itself.
      const bound: unknown = value.bind(target)
      others.set(name, bound)
      return bound
    },
  })
}
