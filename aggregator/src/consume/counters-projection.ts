import type { Logger } from '@tollgate/platform/observability/logger'
import { logUnreadable } from './log-unreadable.ts'
import type { PartitionParts } from './partition-parts.ts'
import type { Projection, Step } from './projection-loop.ts'
import type { ProjectionMetrics } from './projection-metrics.ts'
import { runCountersBatch } from './run-counters-batch.ts'

/** The projection whose position is HotState's own fence. */
export function createCountersProjection(
  parts: PartitionParts,
  metrics: ProjectionMetrics,
  logger: Logger,
): Projection {
  const labels = { projection: 'counters', topic: parts.topic }
  let position: number | undefined
  return {
    get position() {
      return position
    },
    forgetPosition() {
      position = undefined
    },
    async step(): Promise<Step> {
      position ??= await parts.hotState.appliedOffset(parts.environment, parts.partition)
      const startedMs = performance.now()
      const outcome = await runCountersBatch(parts, position)
      if (outcome.kind !== 'applied') return { kind: outcome.kind }
      position = outcome.nextOffset
      const { fold, unreadable } = outcome
      metrics.batchSeconds.observe(labels, (performance.now() - startedMs) / 1000)
      metrics.records.inc({ ...labels, result: 'counted' }, fold.countedTotal)
      metrics.records.inc({ ...labels, result: 'not-counted' }, fold.notCountedTotal)
      metrics.records.inc({ ...labels, result: 'duplicate' }, fold.duplicateTotal)
      metrics.records.inc({ ...labels, result: 'unreadable' }, unreadable.length)
      logUnreadable(logger, unreadable)
      return { kind: 'moved' }
    },
  }
}
