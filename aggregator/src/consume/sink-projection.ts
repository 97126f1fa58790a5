import type { GroupPosition } from '@tollgate/platform/event-log/event-log'
import { sinkGroup } from '@tollgate/schemas/consumer-groups'
import type { Logger } from '@tollgate/platform/observability/logger'
import { planFlush } from '../domain/plan-flush.ts'
import { readSinkNote } from '@tollgate/schemas/sink-note'
import { logUnreadable } from './log-unreadable.ts'
import type { Projection, Step } from './projection-loop.ts'
import type { ProjectionMetrics } from './projection-metrics.ts'
import { runSinkBatch } from './run-sink-batch.ts'
import type { SinkParts } from './sink-parts.ts'

/** How often the sink looks whether the counters have made the lost marks again. */
const rebuildingWaitMs = 200

/** The projection whose position and open batch are kept by the log's group `clickhouse-sink`. */
export function createSinkProjection(
  parts: SinkParts & { readonly delayMs: number },
  metrics: ProjectionMetrics,
  logger: Logger,
): Projection {
  const { log, topic, partition } = parts
  const labels = { projection: 'sink', topic }
  let position: GroupPosition | undefined
  let waitingSinceMs: number | undefined

  /** Undefined when a batch is due; an open batch of before always is. */
  const stepToWait = async (at: GroupPosition): Promise<Step | undefined> => {
    if (readSinkNote(at.note)?.openTo !== undefined) return undefined
    const waitingTotal = (await log.head(topic, partition)) - at.offset
    if (waitingTotal === 0) {
      waitingSinceMs = undefined
      return { kind: 'idle' }
    }
    // Not the wall clock: a clock that is set back must not hold rows back.
    const nowMs = performance.now()
    waitingSinceMs ??= nowMs
    const limits = { rowsMax: parts.readLimits.recordsMax, delayMs: parts.delayMs }
    const plan = planFlush(waitingTotal, nowMs - waitingSinceMs, limits)
    return plan.kind === 'wait' ? plan : undefined
  }

  return {
    get position() {
      return position?.offset
    },
    forgetPosition() {
      position = undefined
    },
    async step(): Promise<Step> {
      position ??= await log.position(sinkGroup, topic, partition)
      const wait = await stepToWait(position)
      if (wait !== undefined) return wait
      const startedMs = performance.now()
      const outcome = await runSinkBatch(parts, position)
      if (outcome.kind === 'idle') return outcome
      if (outcome.kind === 'rebuilding') {
        // The batch may have been opened, so the position in hand may carry an older note than the stored one.
        position = undefined
        return { kind: 'wait', waitMs: rebuildingWaitMs }
      }
      position = outcome.position
      waitingSinceMs = undefined
      const { batch, rowTotal, duplicateTotal, repair } = outcome
      metrics.batchSeconds.observe(labels, (performance.now() - startedMs) / 1000)
      metrics.records.inc({ ...labels, result: 'stored' }, rowTotal)
      metrics.records.inc({ ...labels, result: 'duplicate' }, duplicateTotal)
      metrics.records.inc({ ...labels, result: 'unreadable' }, batch.unreadable.length)
      logUnreadable(logger, batch.unreadable)
      if (repair !== undefined && repair.againTotal + repair.hourTotal > 0) {
        logger.warn(repair, 'what ClickHouse had lost of a batch, or had twice, was put right')
      }
      return { kind: 'moved' }
    },
  }
}
