/** One operation of a trace. It lasts until it is ended. Only sampled spans are exported. */
export interface Span {
  readonly isSampled: boolean
  readonly traceId: string
  readonly spanId: string
  /** The W3C trace headers with which another service continues this trace. */
  readonly headers: TraceHeaders
  set(attributes: Attributes): void
  /** Runs `work` with this span as the active one. Spans that begin in it become its children. */
  run<Result>(work: () => Result): Result
  end(): void
  /** Ends the span as failed. Only the kind of the error is recorded, because messages may contain data of clients. */
  fail(error: unknown): void
}

/** Distributed tracing with OpenTelemetry. It is undefined where no collector is configured. */
export interface Tracing {
  /** The active span, or undefined outside of a traced request. */
  active(): Span | undefined
  /**
   * Begins the span of a request, and continues the caller's trace from its headers. The span may not be sampled; `run` applies
   * that to its children.
   */
  receive(name: string, headers: Partial<TraceHeaders>, attributes: Attributes): Span
  /** Begins a child of the active span. Returns undefined without an active sampled span. */
  begin(name: string, kind: SpanKind, attributes: Attributes): Span | undefined
  /**
   * Begins a span that is linked to the traces whose effects it processes. Texts that are not a valid `traceparent` are ignored.
   */
  follow(name: string, traceParents: readonly string[], attributes: Attributes): Span
  /** Sends the remaining spans, unless the collector is unavailable. */
  close(): Promise<void>
}

export type SpanKind = 'client' | 'producer' | 'internal'

export type Attributes = Readonly<Record<string, string | number>>

export type TraceHeaders = { readonly traceparent: string; readonly tracestate?: string }
