import type { Clock } from '@tollgate/platform/clock/clock'
import type { Logger } from '@tollgate/platform/observability/logger'
import { sweepLimits, type Retention } from '../domain/retention.ts'
import { logUnreadable } from './log-unreadable.ts'
import { oldestRecordMs, type PartitionParts } from './partition-parts.ts'
import type { Projection, Step } from './projection-loop.ts'
import type { ProjectionMetrics } from './projection-metrics.ts'
import { recoverPosition } from './recover-position.ts'
import { restoreCounts, type RestoreParts } from './restore-counts.ts'
import { runCountersBatch, type CountersOutcome } from './run-counters-batch.ts'

export type CountersParts = PartitionParts &
  RestoreParts & {
    readonly clock: Clock
    readonly retention: Retention
    /** Counts of fewer stored records are made again from the log, of as many from ClickHouse. */
    readonly replayRecordsMax: number
  }

type Restore = {
  readonly offset: number
  readonly startedMs: number
  readonly pieces: ReturnType<typeof restoreCounts>
}

/** Counts that are lost while no usage comes are missed by nobody but those who read them, so the fence is looked at. */
const looksAtFenceEveryMs = 1_000

/** The projection whose position is HotState's own fence. Counts that HotState has lost, it makes again first. */
export function createCountersProjection(
  parts: CountersParts,
  metrics: ProjectionMetrics,
  logger: Logger,
): Projection {
  const labels = { projection: 'counters', topic: parts.topic }
  let position: number | undefined
  let restore: Restore | undefined
  let lookedAtFenceMs = -Infinity

  const recover = async (): Promise<void> => {
    const plan = await recoverPosition(parts, parts.replayRecordsMax)
    if (plan.kind === 'go-on') {
      position = plan.offset
      return
    }
    const { offset } = plan
    logger.warn({ offset }, 'the counts are lost: they are made again from ClickHouse')
    metrics.restores.inc({ topic: parts.topic, result: 'begun' })
    restore = { offset, startedMs: performance.now(), pieces: await beginRestore(parts, offset) }
  }

  const stepRestore = async ({ offset, startedMs, pieces }: Restore): Promise<Step> => {
    const piece = await pieces.next()
    if (piece.done !== true) {
      logger.debug(piece.value, 'counts are being made again')
      const { waitMs } = piece.value
      return waitMs === undefined ? { kind: 'moved' } : { kind: 'wait', waitMs }
    }
    restore = undefined
    metrics.restores.inc({ topic: parts.topic, result: piece.value })
    if (piece.value === 'fenced') return { kind: 'fenced' }
    const seconds = (performance.now() - startedMs) / 1000
    logger.info({ offset, seconds }, 'the counts are whole again')
    position = offset
    return { kind: 'moved' }
  }

  const isElsewhere = async (at: number): Promise<boolean> => {
    const nowMs = parts.clock.now()
    // Also after a clock was set back.
    if (Math.abs(nowMs - lookedAtFenceMs) < looksAtFenceEveryMs) return false
    lookedAtFenceMs = nowMs
    return (await parts.hotState.appliedOffset(parts.environment, parts.partition)) !== at
  }

  const stepBatch = async (from: number): Promise<Step> => {
    const startedMs = performance.now()
    const outcome = await runCountersBatch(parts, from)
    if (outcome.kind === 'idle' && (await isElsewhere(from))) return { kind: 'fenced' }
    if (outcome.kind !== 'applied') return { kind: outcome.kind }
    position = outcome.nextOffset
    countBatch(metrics, labels, outcome, performance.now() - startedMs)
    logUnreadable(logger, outcome.unreadable)
    return { kind: 'moved' }
  }

  return {
    get position() {
      return position
    },
    forgetPosition() {
      position = undefined
      restore = undefined
    },
    async step(): Promise<Step> {
      if (restore === undefined && position === undefined) await recover()
      // One piece a step, so that a service that is told to stop need not wait for all of them.
      if (restore !== undefined) return await stepRestore(restore)
      return await stepBatch(position!)
    },
  }
}

function countBatch(
  metrics: ProjectionMetrics,
  labels: { readonly projection: string; readonly topic: string },
  { fold, unreadable }: Extract<CountersOutcome, { kind: 'applied' }>,
  durationMs: number,
): void {
  metrics.batchSeconds.observe(labels, durationMs / 1000)
  metrics.records.inc({ ...labels, result: 'counted' }, fold.countedTotal)
  metrics.records.inc({ ...labels, result: 'not-counted' }, fold.notCountedTotal)
  metrics.records.inc({ ...labels, result: 'duplicate' }, fold.duplicateTotal)
  metrics.records.inc({ ...labels, result: 'unreadable' }, unreadable.length)
}

async function beginRestore(parts: CountersParts, offset: number): Promise<Restore['pieces']> {
  const kept = sweepLimits(parts.retention, parts.clock.now(), await oldestRecordMs(parts))
  return restoreCounts(parts, {
    offset,
    marksSinceMs: kept.marksReceivedBeforeMs,
    slotLimits: kept,
  })
}
