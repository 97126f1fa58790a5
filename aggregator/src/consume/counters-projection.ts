import type { Logger } from '@tollgate/platform/observability/logger'
import { logUnreadable } from './log-unreadable.ts'
import type { PartitionParts } from './partition-parts.ts'
import type { Projection, Step } from './projection-loop.ts'
import type { ProjectionMetrics } from './projection-metrics.ts'
import { Recount } from './recount.ts'
import { recoverPosition } from './recover-position.ts'
import { beginRestore, type RestoreRunParts, type StepRestore } from './restore/run-restore.ts'
import { runCountersBatch, type CountersOutcome } from './run-counters-batch.ts'

export type CountersParts = PartitionParts &
  RestoreRunParts & {
    /** Counts of fewer stored records are made again from the log, of as many from ClickHouse. */
    readonly replayRecordsMax: number
  }

type Restoring = { readonly offset: number; readonly step: StepRestore }

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
  let restoring: Restoring | undefined
  let lookedAtFenceMs = -Infinity
  const recount = new Recount(parts)

  const recover = async (): Promise<void> => {
    const { kind, offset } = await recoverPosition(parts, parts.replayRecordsMax)
    if (kind === 'go-on') position = offset
    else restoring = { offset, step: await beginRestore(parts, offset, metrics, logger) }
  }

  const stepRestore = async ({ offset, step }: Restoring): Promise<Step> => {
    const outcome = await step()
    if (outcome.kind !== 'restored') return outcome
    // Also where nobody wished for it: whatever is made now is right.
    await recount.done()
    restoring = undefined
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
    const wish = await recount.look(from)
    if (wish.kind === 'wait') return wish
    if (wish.kind === 'now') {
      restoring = { offset: from, step: await beginRestore(parts, from, metrics, logger) }
      return { kind: 'moved' }
    }
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
      restoring = undefined
    },
    async step(): Promise<Step> {
      if (restoring === undefined && position === undefined) await recover()
      // One piece a step, so that a service that is told to stop need not wait for all of them.
      if (restoring !== undefined) return await stepRestore(restoring)
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
