import { LogDamagedError } from '@tollgate/platform/event-log/log-damaged-error'
import type { Logger } from '@tollgate/platform/observability/logger'
import { logUnreadable } from './log-unreadable.ts'
import type { PartitionParts } from './partition-parts.ts'
import type { Projection, Step } from './projection-loop.ts'
import type { ProjectionMetrics } from './projection-metrics.ts'
import { Recount, type RecountParts } from './recount.ts'
import { recoverCounts, recoverFromDamage } from './recover-position.ts'
import { repeatParts } from './repeat-parts.ts'
import {
  beginCountsRestore,
  type RestoreRunParts,
  type StepRestore,
} from './restore/run-restore.ts'
import { runCountersBatch, type CountersOutcome } from './run-counters-batch.ts'

export type CountersParts = PartitionParts &
  RestoreRunParts &
  RecountParts & {
    /** Counts are rebuilt from the log if fewer records than this are stored, and from ClickHouse otherwise. */
    readonly replayRecordsMax: number
  }

type Restoring = { readonly offset: number; readonly step: StepRestore }

/** Milliseconds between two checks of whether the sink has compared ClickHouse with the log. */
const comparedWaitMs = 200

/** Milliseconds between two reads of the fence. Without new usage, only this read detects that the counts were lost. */
const fenceReadIntervalMs = 1_000

/**
 * Returns the projection whose position is the fence in HotState. If HotState lost its counts, the projection rebuilds them first.
 */
export function createCountersProjection(
  parts: CountersParts,
  metrics: ProjectionMetrics,
  logger: Logger,
): Projection {
  const labels = { projection: 'counters', topic: parts.topic }
  let position: number | undefined
  let restoring: Restoring | undefined
  const hasFenceMoved = createFenceCheck(parts)
  const recount = new Recount(parts)

  const restoreTo = async (offset: number): Promise<void> => {
    restoring = { offset, step: await beginCountsRestore(parts, offset, metrics, logger) }
  }

  const stepRestore = async ({ offset, step }: Restoring): Promise<Step> => {
    const outcome = await step()
    if (outcome.kind !== 'restored') return outcome
    // A rebuild for another reason also completes a requested recount, because the counts are correct now.
    await recount.done()
    restoring = undefined
    position = offset
    return { kind: 'moved' }
  }

  const continueAt = async (offset: number): Promise<void> => {
    // Before the next batch, whose notes would hide what the last one has left undone.
    await repeatParts(parts, offset, parts.clock.now())
    position = offset
  }

  const stepBatch = async (from: number): Promise<Step> => {
    const step = await recount.step(from)
    if (step.kind === 'wait') return step
    if (step.kind === 'now') {
      await restoreTo(from)
      return { kind: 'moved' }
    }
    const startedMs = performance.now()
    const outcome = await runCountersBatch(parts, from).catch(ifDamaged)
    if (outcome instanceof LogDamagedError) {
      const plan = await recoverFromDamage(parts, outcome)
      if (plan === 'wait') return { kind: 'wait', waitMs: comparedWaitMs }
      logger.error({ err: outcome, from }, 'the log is damaged, counts are rebuilt from ClickHouse')
      await restoreTo(plan.offset)
      return { kind: 'moved' }
    }
    if (outcome.kind === 'idle' && (await hasFenceMoved(from))) return { kind: 'fenced' }
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
      if (restoring === undefined && position === undefined) {
        const plan = await recoverCounts(parts, parts.replayRecordsMax)
        if (plan === 'wait') return { kind: 'wait', waitMs: comparedWaitMs }
        if (plan.kind === 'continue') await continueAt(plan.offset)
        else await restoreTo(plan.offset)
      }
      // Each step processes one piece, so that a stop does not have to wait for the whole rebuild.
      if (restoring !== undefined) return await stepRestore(restoring)
      return await stepBatch(position!)
    },
  }
}

/** Returns a function that reads the fence from time to time, and returns whether it is at another offset. */
function createFenceCheck(parts: CountersParts): (at: number) => Promise<boolean> {
  let fenceReadAtMs = -Infinity
  return async (at) => {
    const nowMs = parts.clock.now()
    // The absolute value lets the check run after the clock was set back, too.
    if (Math.abs(nowMs - fenceReadAtMs) < fenceReadIntervalMs) return false
    fenceReadAtMs = nowMs
    return (await parts.hotState.appliedOffset(parts.environment, parts.partition)) !== at
  }
}

function ifDamaged(error: unknown): LogDamagedError {
  if (error instanceof LogDamagedError) return error
  throw error
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
