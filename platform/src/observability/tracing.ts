/** One operation of a trace. It lasts until it is ended; only what is sampled is sent to anybody. */
export interface Span {
  readonly isSampled: boolean
  readonly traceId: string
  readonly spanId: string
  /** The W3C headers that make whoever gets them continue here. */
  readonly headers: TraceHeaders
  set(attributes: Attributes): void
  /** What runs in `work`, and what that begins, belongs to this span. */
  run<Result>(work: () => Result): Result
  end(): void
  /** Ends it with what went wrong: the kind of error alone, since messages may hold what clients sent. */
  fail(error: unknown): void
}

/** Traces as OpenTelemetry knows them. There is none where nobody collects them. */
export interface Tracing {
  /** What runs now belongs to it; undefined: no request that is traced. */
  active(): Span | undefined
  /** Begins the work on a request, continuing the trace that its headers tell of. Sampled or not: `run` passes that on. */
  receive(name: string, headers: Partial<TraceHeaders>, attributes: Attributes): Span
  /** Begins a part of the sampled trace that runs now; undefined when none does. */
  begin(name: string, kind: SpanKind, attributes: Attributes): Span | undefined
  /** Begins the work on what sampled traces left behind, linked to all of them. Texts that are no `traceparent` are passed over. */
  follow(name: string, traceParents: readonly string[], attributes: Attributes): Span
  /** Sends what is left, unless the collector is away. */
  close(): Promise<void>
}

export type SpanKind = 'client' | 'producer' | 'internal'

export type Attributes = Readonly<Record<string, string | number>>

export type TraceHeaders = { readonly traceparent: string; readonly tracestate?: string }
