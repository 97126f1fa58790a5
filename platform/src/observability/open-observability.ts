import { createLogger, type Logger } from './logger.ts'
import { openTracing } from './open-tracing.ts'
import type { Tracing } from './tracing.ts'

export type Observability = {
  readonly logger: Logger
  /** Undefined: nobody collects traces. */
  readonly tracing: Tracing | undefined
}

/** The logger and the traces of a process, under one name. Throws SettingsError for settings of traces that are wrong. */
export async function openObservability(
  service: string,
  level: string,
  environment: Readonly<Record<string, string | undefined>>,
): Promise<Observability> {
  const report = (reason: string): void => logger.warn({ reason }, 'traces cannot be sent')
  const tracing = await openTracing(service, environment, report)
  const logger = createLogger(service, level, tracing)
  return { logger, tracing }
}
