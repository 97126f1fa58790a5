import type { Logger } from '@tollgate/platform/observability/logger'
import type { UnreadableRecord } from '../domain/decoded-batch.ts'

/** One line per batch, however many there are: a flood of bad records must not become a flood of log lines. */
export function logUnreadable(logger: Logger, unreadable: readonly UnreadableRecord[]): void {
  const [first] = unreadable
  if (first === undefined) return
  logger.error(
    { total: unreadable.length, offset: first.offset, reason: first.error },
    'records are unreadable and were set aside',
  )
}
