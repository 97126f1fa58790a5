import type { Attributes, Span, SpanKind, Tracing } from './tracing.ts'

/** Makes a call, inside a new span if a sampled trace is active. Returns exactly what the call returned, be it a promise or not. */
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

/** Runs the work and ends the span when it has ended, as failed if it throws or rejects. */
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

/** Returns a proxy of the port with some of its methods replaced. All other methods are passed through. */
export function withCalls<Port extends object>(port: Port, calls: Partial<Port>): Port {
  const others = new Map<PropertyKey, unknown>()
  return new Proxy(port, {
    get(target, name) {
      if (name in calls) return calls[name as keyof Port]
      if (others.has(name)) return others.get(name)
      const value: unknown = Reflect.get(target, name, target)
      if (typeof value !== 'function') return value
      // Methods that use private fields need the adapter itself as `this`.
      const bound: unknown = value.bind(target)
      others.set(name, bound)
      return bound
    },
  })
}
