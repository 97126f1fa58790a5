import type { Clock } from '@tollgate/platform/clock/clock'
import type { Logger } from '@tollgate/platform/observability/logger'
import { sweepLimits, type Retention } from '../../domain/retention.ts'
import { oldestRecordMs } from '../partition-parts.ts'
import type { Step } from '../projection-loop.ts'
import type { ProjectionMetrics } from '../projection-metrics.ts'
import { restoreCounts, type RestoreParts, type RestorePiece } from './restore-counts.ts'

export type RestoreRunParts = RestoreParts & {
  readonly clock: Clock
  readonly retention: Retention
}

/** Processes one piece. Resolves with 'restored' after the last one. */
export type StepRestore = () => Promise<Step | { readonly kind: 'restored' }>

/**
 * Starts to rebuild the counts of all records before `offset`. Returns a function for the steps of the projection. Progress is
 * reported in logs and metrics.
 */
export async function beginCountsRestore(
  parts: RestoreRunParts,
  offset: number,
  metrics: ProjectionMetrics,
  logger: Logger,
): Promise<StepRestore> {
  const { topic } = parts
  const startedMs = performance.now()
  logger.warn({ offset }, 'the counts of the partition are rebuilt from ClickHouse')
  metrics.restores.inc({ topic, result: 'begun' })
  const kept = sweepLimits(parts.retention, parts.clock.now(), await oldestRecordMs(parts))
  const marksSinceMs = kept.marksReceivedBeforeMs
  const pieces = restoreCounts(parts, { offset, marksSinceMs, slotLimits: kept })

  const stepAfter = (piece: RestorePiece): Step => {
    if (piece.kind === 'wait') return piece
    if (piece.kind === 'moved') {
      logger.debug(piece, 'counts are being rebuilt')
      return { kind: 'moved' }
    }
    const { error, waitMs } = piece
    metrics.failures.inc({ projection: 'counters', topic, kind: 'failed' })
    logger.warn({ err: error }, 'a call failed while counts are rebuilt, and will be repeated')
    return { kind: 'wait', waitMs }
  }

  return async () => {
    const piece = await pieces.next()
    if (piece.done !== true) return stepAfter(piece.value)
    metrics.restores.inc({ topic, result: piece.value })
    if (piece.value === 'restored') {
      const seconds = (performance.now() - startedMs) / 1000
      logger.info({ offset, seconds }, 'the counts are whole again')
    }
    return { kind: piece.value }
  }
}
