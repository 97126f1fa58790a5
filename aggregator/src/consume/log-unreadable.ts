import type { Logger } from '@tollgate/platform/observability/logger'
import type { UnreadableRecord } from '../domain/decoded-batch.ts'

/** Writes one line per batch, so that many unreadable records do not cause as many log lines. */
export function logUnreadable(logger: Logger, unreadable: readonly UnreadableRecord[]): void {
  const [first] = unreadable
  if (first === undefined) return
  logger.error(
    { total: unreadable.length, offset: first.offset, reason: first.error },
    'records could not be decoded: they are not counted, and the sink stores them in unreadable_records',
  )
}
