import { pino, type Logger } from 'pino'
import type { Tracing } from './tracing.ts'

export type { Logger }

/** What tells the processes of one service apart, in log lines and spans. */
export type ProcessLabels = Readonly<Record<string, string | number>>

/**
 * Creates a JSON logger on standard output. Fields that carry credentials are removed. Lines that are written during a sampled
 * request have its `trace_id`.
 */
export function createLogger(
  service: string,
  level: string,
  tracing?: Pick<Tracing, 'active'>,
  process: ProcessLabels = {},
): Logger {
  return pino({
    level,
    base: { service, ...process },
    timestamp: pino.stdTimeFunctions.isoTime,
    ...(tracing !== undefined && { mixin: () => traceFields(tracing) }),
    redact: {
      paths: [
        'authorization',
        'headers.authorization',
        'req.headers.authorization',
        '*.secretKey',
        'secretKeys',
        '*.secretKeys',
        'authApiKey',
        '*.authApiKey',
      ],
      remove: true,
    },
  })
}

function traceFields(tracing: Pick<Tracing, 'active'>): Record<string, string> {
  const span = tracing.active()
  return span?.isSampled === true ? { trace_id: span.traceId, span_id: span.spanId } : {}
}
