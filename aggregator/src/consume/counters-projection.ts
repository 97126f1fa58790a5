import { LogDamagedError } from '@tollgate/platform/event-log/log-damaged-error'
import type { Logger } from '@tollgate/platform/observability/logger'
import { logUnreadable } from './log-unreadable.ts'
import type { PartitionParts } from './partition-parts.ts'
import type { Projection, Step } from './projection-loop.ts'
import type { ProjectionMetrics } from './projection-metrics.ts'
import { Recount, type RecountParts } from './recount.ts'
import { recoverCounts, recoverFromDamage } from './recover-position.ts'
import {
  beginCountsRestore,
  type RestoreRunParts,
  type StepRestore,
} from './restore/run-restore.ts'
import { runCountersBatch, type CountersOutcome } from './run-counters-batch.ts'

export type CountersParts = PartitionParts &
  RestoreRunParts &
  RecountParts & {
    /** Counts of fewer stored records are made again from the log, of as many from ClickHouse. */
    readonly replayRecordsMax: number
  }

type Restoring = { readonly offset: number; readonly step: StepRestore }

/** How often it is looked at whether the sink has compared ClickHouse with the log. */
const comparedWaitMs = 200

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

  const restoreTo = async (offset: number): Promise<void> => {
    restoring = { offset, step: await beginCountsRestore(parts, offset, metrics, logger) }
  }

  const stepRestore = async ({ offset, step }: Restoring): Promise<Step> => {
    const outcome = await step()
    if (outcome.kind !== 'restored') return outcome
    // Also a recount that was not requested: the counts are right now.
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
      logger.error({ err: outcome, from }, 'the log is damaged: ClickHouse has what was there')
      await restoreTo(plan.offset)
      return { kind: 'moved' }
    }
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
      if (restoring === undefined && position === undefined) {
        const plan = await recoverCounts(parts, parts.replayRecordsMax)
        if (plan === 'wait') return { kind: 'wait', waitMs: comparedWaitMs }
        if (plan.kind === 'go-on') position = plan.offset
        else await restoreTo(plan.offset)
      }
      // One piece a step, so that a service that is told to stop need not wait for all of them.
      if (restoring !== undefined) return await stepRestore(restoring)
      return await stepBatch(position!)
    },
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
