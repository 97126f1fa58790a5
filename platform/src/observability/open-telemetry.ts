import { AsyncLocalStorage } from 'node:async_hooks'
import {
  createTraceState,
  diag,
  DiagLogLevel,
  isSpanContextValid,
  ROOT_CONTEXT,
  SpanKind as OtelKind,
  SpanStatusCode,
  trace,
  TraceFlags,
  type Context,
  type Span as OtelSpan,
  type SpanContext,
  type Tracer,
} from '@opentelemetry/api'
import { parseTraceParent } from '@opentelemetry/core'
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto'
import {
  defaultResource,
  detectResources,
  envDetector,
  resourceFromAttributes,
} from '@opentelemetry/resources'
import {
  AlwaysOnSampler,
  BasicTracerProvider,
  BatchSpanProcessor,
  ParentBasedSampler,
  TraceIdRatioBasedSampler,
} from '@opentelemetry/sdk-trace-base'
import type { ProcessLabels } from './logger.ts'
import type { Attributes, Span, SpanKind, TraceHeaders, Tracing } from './tracing.ts'

export type TelemetryOptions = {
  readonly service: string
  readonly process: ProcessLabels
  /** Share of requests without a caller's trace that are sampled, 0 to 1. Undefined if the library's own variables decide. */
  readonly defaultRatio: number | undefined
  readonly report: (reason: string) => void
}

/** An unavailable collector must not delay the end of a process. */
const closeTimeoutMs = 3_000
const reportIntervalMs = 60_000

const kinds: Readonly<Record<SpanKind, OtelKind>> = {
  client: OtelKind.CLIENT,
  producer: OtelKind.PRODUCER,
  internal: OtelKind.INTERNAL,
}

/** Opens tracing. Spans wait in a bounded queue (OTEL_BSP_*). If it is full, spans are dropped and no caller waits. */
export function openTelemetry({
  service,
  process,
  defaultRatio,
  report,
}: TelemetryOptions): Tracing {
  reportProblems(report)
  const processor = new BatchSpanProcessor(new OTLPTraceExporter())
  const resource = defaultResource()
    .merge(resourceFromAttributes({ 'service.name': service, ...attributesOf(process) }))
    .merge(detectResources({ detectors: [envDetector] }))
  const shared = { resource, spanProcessors: [processor] }
  const entry = new BasicTracerProvider({
    ...shared,
    ...(defaultRatio !== undefined && {
      sampler: new ParentBasedSampler({ root: new TraceIdRatioBasedSampler(defaultRatio) }),
    }),
  })
  // Sampling is decided where a trace enters. Spans inside a sampled trace, or that follow one, are always sampled.
  const inner = new BasicTracerProvider({ ...shared, sampler: new AlwaysOnSampler() })
  const tracers = { entry: entry.getTracer('tollgate'), inner: inner.getTracer('tollgate') }
  return new Telemetry(tracers, () => closeInTime(processor))
}

function attributesOf(process: ProcessLabels): Attributes {
  return Object.fromEntries(
    Object.entries(process).map(([name, value]) => [`tollgate.${name}`, value]),
  )
}

class Telemetry implements Tracing {
  readonly #running = new AsyncLocalStorage<RunningSpan>()
  readonly #tracers: { readonly entry: Tracer; readonly inner: Tracer }
  readonly #close: () => Promise<void>

  constructor(
    tracers: { readonly entry: Tracer; readonly inner: Tracer },
    close: () => Promise<void>,
  ) {
    this.#tracers = tracers
    this.#close = close
  }

  active(): Span | undefined {
    return this.#running.getStore()
  }

  receive(name: string, headers: Partial<TraceHeaders>, attributes: Attributes): Span {
    const options = { kind: OtelKind.SERVER, attributes }
    return this.#wrap(this.#tracers.entry.startSpan(name, options, contextOf(headers)))
  }

  begin(name: string, kind: SpanKind, attributes: Attributes): Span | undefined {
    const parent = this.#running.getStore()
    if (parent?.isSampled !== true) return undefined
    const options = { kind: kinds[kind], attributes }
    return this.#wrap(this.#tracers.inner.startSpan(name, options, parent.context))
  }

  follow(name: string, traceParents: readonly string[], attributes: Attributes): Span {
    const links = traceParents.flatMap((text) => {
      const context = parseTraceParent(text)
      return context === null ? [] : [{ context }]
    })
    const options = { kind: OtelKind.CONSUMER, attributes, links }
    return this.#wrap(this.#tracers.inner.startSpan(name, options, ROOT_CONTEXT))
  }

  close(): Promise<void> {
    return this.#close()
  }

  #wrap(span: OtelSpan): Span {
    return new RunningSpan(span, this.#running)
  }
}

class RunningSpan implements Span {
  readonly #span: OtelSpan
  readonly #running: AsyncLocalStorage<RunningSpan>
  readonly #at: SpanContext

  constructor(span: OtelSpan, running: AsyncLocalStorage<RunningSpan>) {
    this.#span = span
    this.#running = running
    this.#at = span.spanContext()
  }

  get isSampled(): boolean {
    return (this.#at.traceFlags & TraceFlags.SAMPLED) !== 0
  }

  get traceId(): string {
    return this.#at.traceId
  }

  get spanId(): string {
    return this.#at.spanId
  }

  get headers(): TraceHeaders {
    const { traceId, spanId, traceFlags, traceState } = this.#at
    const traceparent = `00-${traceId}-${spanId}-${traceFlags.toString(16).padStart(2, '0')}`
    const tracestate = traceState?.serialize() ?? ''
    return tracestate === '' ? { traceparent } : { traceparent, tracestate }
  }

  get context(): Context {
    return trace.setSpan(ROOT_CONTEXT, this.#span)
  }

  set(attributes: Attributes): void {
    this.#span.setAttributes({ ...attributes })
  }

  run<Result>(work: () => Result): Result {
    return this.#running.run(this, work)
  }

  end(): void {
    this.#span.end()
  }

  fail(error: unknown): void {
    this.#span.setAttribute('error.type', typeOf(error))
    this.#span.setStatus({ code: SpanStatusCode.ERROR })
    this.#span.end()
  }
}

function typeOf(error: unknown): string {
  if (!(error instanceof Error)) return typeof error === 'string' ? error : 'unknown'
  const { code } = error as { code?: unknown }
  return typeof code === 'string' || typeof code === 'number' ? String(code) : error.name
}

/** Reads the trace of a caller. Any client can send the header: an invalid one is ignored, and a new trace begins. */
function contextOf({ traceparent, tracestate }: Partial<TraceHeaders>): Context {
  const parsed = traceparent === undefined ? null : parseTraceParent(traceparent)
  if (parsed === null || !isSpanContextValid(parsed)) return ROOT_CONTEXT
  const parent: SpanContext = { ...parsed, isRemote: true }
  if (tracestate !== undefined && tracestate !== '') {
    parent.traceState = createTraceState(tracestate)
  }
  return trace.setSpanContext(ROOT_CONTEXT, parent)
}

/** Reports problems of the library at most once a minute. The library itself reports every batch that it cannot send. */
function reportProblems(report: (reason: string) => void): void {
  let reportedAtMs = Number.NEGATIVE_INFINITY
  const tell = (message: string, ...details: readonly unknown[]): void => {
    const nowMs = performance.now()
    if (nowMs - reportedAtMs < reportIntervalMs) return
    reportedAtMs = nowMs
    report([message, ...details.map(String)].join(' ').slice(0, 500))
  }
  const silent = (): void => undefined
  const logger = { error: tell, warn: tell, info: silent, debug: silent, verbose: silent }
  diag.setLogger(logger, { logLevel: DiagLogLevel.WARN, suppressOverrideMessage: true })
}

async function closeInTime(processor: BatchSpanProcessor): Promise<void> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, closeTimeoutMs)
  })
  // Errors were already reported through the library's logger.
  const closed = processor.shutdown().catch(() => undefined)
  await Promise.race([closed, late])
  clearTimeout(timer)
}
