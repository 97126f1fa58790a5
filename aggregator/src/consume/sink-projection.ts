import { GroupFencedError, type GroupPosition } from '@tollgate/platform/event-log/event-log'
import { sinkGroup } from '@tollgate/schemas/consumer-groups'
import type { Logger } from '@tollgate/platform/observability/logger'
import { planFlush } from '../domain/plan-flush.ts'
import { readSinkNote } from '@tollgate/schemas/sink-note'
import { logUnreadable } from './log-unreadable.ts'
import type { Projection, Step } from './projection-loop.ts'
import type { ProjectionMetrics } from './projection-metrics.ts'
import { runSinkBatch, type SinkOutcome } from './run-sink-batch.ts'
import { StoreAgainRequests, type StoreAgainParts } from './store-again-requests.ts'
import { StoreCheck } from './store-check.ts'

const storedAgainReasons = ['lost', 'asked'] as const

/** Milliseconds between two checks of whether the counters have rebuilt the lost marks. */
const rebuildingWaitMs = 200

/** Returns the projection whose position and open batch are stored in the log's consumer group `clickhouse-sink`. */
export function createSinkProjection(
  parts: StoreAgainParts & { readonly delayMs: number },
  metrics: ProjectionMetrics,
  logger: Logger,
): Projection {
  const { log, topic, partition } = parts
  let position: GroupPosition | undefined
  let waitingSinceMs: number | undefined
  const storeCheck = new StoreCheck(parts, logger)
  // The alert detects only an increase from 0, so the counter starts with an explicit 0.
  for (const reason of storedAgainReasons) metrics.storedAgain.inc({ topic, reason }, 0)
  const storeAgain = new StoreAgainRequests(parts, logger)

  /**
   * Compares ClickHouse with the log if that is due, and executes one step of a requested comparison. Returns undefined if there
   * was nothing to do.
   */
  const stepToCompare = async (at: GroupPosition, isDue: boolean): Promise<Step | undefined> => {
    const checked = await storeCheck.check(at, isDue)
    position = checked.position
    if (checked.movedBackTo !== undefined) {
      metrics.storedAgain.inc({ topic, reason: 'lost' })
      return { kind: 'moved' }
    }
    const requested = await storeAgain.step(position)
    position = requested.position
    if (requested.kind === 'moved back') metrics.storedAgain.inc({ topic, reason: 'asked' })
    return requested.kind === 'nothing' ? undefined : { kind: 'moved' }
  }

  /** Returns undefined if a batch is due. An open batch is always due. */
  const stepToWait = async (at: GroupPosition): Promise<Step | undefined> => {
    if (readSinkNote(at.note)?.state === 'open') return undefined
    const waitingTotal = (await log.head(topic, partition)) - at.offset
    if (waitingTotal === 0) {
      waitingSinceMs = undefined
      return { kind: 'idle' }
    }
    // The delay uses the monotonic clock: a wall clock that is set back must not delay rows.
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
      const compared = await stepToCompare(position, wait === undefined).catch((error: unknown) => {
        // No batch is due, so a failure of the store is ignored here. The next batch reports it.
        if (wait === undefined || error instanceof GroupFencedError) throw error
        return undefined
      })
      if (wait !== undefined) return compared ?? wait
      const startedMs = performance.now()
      const outcome = await runSinkBatch(parts, position)
      if (outcome.kind === 'idle') return outcome
      if (outcome.kind === 'rebuilding') {
        // The batch may have been opened, so the known position may have an older note than the stored one.
        position = undefined
        return { kind: 'wait', waitMs: rebuildingWaitMs }
      }
      position = outcome.position
      waitingSinceMs = undefined
      reportBatch(metrics, logger, topic, outcome, performance.now() - startedMs)
      return { kind: 'moved' }
    },
  }
}

function reportBatch(
  metrics: ProjectionMetrics,
  logger: Logger,
  topic: string,
  { batch, recordTotal, duplicateTotal, repair }: Extract<SinkOutcome, { kind: 'stored' }>,
  durationMs: number,
): void {
  const labels = { projection: 'sink', topic }
  metrics.batchSeconds.observe(labels, durationMs / 1000)
  metrics.records.inc({ ...labels, result: 'stored' }, recordTotal)
  metrics.records.inc({ ...labels, result: 'duplicate' }, duplicateTotal)
  metrics.records.inc({ ...labels, result: 'unreadable' }, batch.unreadable.length)
  logUnreadable(logger, batch.unreadable)
  if (repair !== undefined && repair.againTotal + repair.hourTotal > 0) {
    logger.warn(repair, 'what ClickHouse had lost of a batch, or had twice, was put right')
  }
}
