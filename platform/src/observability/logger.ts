import { pino, type Logger } from 'pino'

export type { Logger }

/** A JSON logger on standard output. Credentials never reach it: header values that carry them are removed. */
export function createLogger(service: string, level: string): Logger {
  return pino({
    level,
    base: { service },
    timestamp: pino.stdTimeFunctions.isoTime,
    redact: {
      paths: ['authorization', 'headers.authorization', 'req.headers.authorization', '*.secretKey'],
      remove: true,
    },
  })
}
