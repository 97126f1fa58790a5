import { createLogger, type Logger, type ProcessLabels } from './logger.ts'
import { openTracing } from './open-tracing.ts'
import type { Tracing } from './tracing.ts'

export type Observability = {
  readonly logger: Logger
  /** Undefined if no trace collector is configured. */
  readonly tracing: Tracing | undefined
}

/** Opens the logger and the tracing of a process. Throws a SettingsError for invalid tracing settings. */
export async function openObservability(
  service: string,
  level: string,
  environment: Readonly<Record<string, string | undefined>>,
  process: ProcessLabels = {},
): Promise<Observability> {
  const report = (reason: string): void => logger.warn({ reason }, 'traces cannot be sent')
  const tracing = await openTracing(service, environment, report, process)
  const logger = createLogger(service, level, tracing, process)
  return { logger, tracing }
}
