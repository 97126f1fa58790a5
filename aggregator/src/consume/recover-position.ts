import { readStoreIncarnation } from '@tollgate/domain/stored-usage/store-incarnation'
import type { LogDamagedError } from '@tollgate/platform/event-log/log-damaged-error'
import type { UsageStore } from '@tollgate/platform/usage-store/usage-store'
import { sinkGroup } from '@tollgate/schemas/consumer-groups'
import { planRecovery, type RecoveryPlan } from '../domain/plan-recovery.ts'
import { readSinkNote } from '@tollgate/schemas/sink-note'
import type { Partition } from './partition-parts.ts'

export type RecoveryParts = Partition & { readonly usageStore: UsageStore }

/**
 * Returns whether the sink has compared ClickHouse with its position since ClickHouse last started. Until then the position may
 * still move back.
 */
async function isStoreCompared({
  log,
  usageStore,
  environment,
  topic,
  partition,
}: RecoveryParts): Promise<boolean> {
  const { note } = await log.position(sinkGroup, topic, partition)
  const compared = readSinkNote(note)?.comparedIncarnation
  return (
    compared === undefined || compared === (await readStoreIncarnation(usageStore, environment))
  )
}

/**
 * Returns the offset at which the counters of a partition continue, or the offset up to which their counts are rebuilt from
 * ClickHouse. Returns 'wait' until the sink has compared ClickHouse: it may still move its position back, and counts up to the old
 * position would be too low.
 */
export async function recoverCounts(
  parts: RecoveryParts,
  replayRecordsMax: number,
): Promise<RecoveryPlan | 'wait'> {
  const plan = await recoverPosition(parts, replayRecordsMax)
  if (plan.kind === 'continue') return plan
  if (!(await isStoreCompared(parts))) return 'wait'
  // The position may have moved back since it was read.
  return await recoverPosition(parts, replayRecordsMax)
}

/** Returns a plan to count records that the log cannot return from ClickHouse. Throws `error` if ClickHouse does not have them. */
export async function recoverFromDamage(
  parts: RecoveryParts,
  error: LogDamagedError,
): Promise<RecoveryPlan | 'wait'> {
  if ((await readStoredOffset(parts)) < error.readableFrom) throw error
  if (!(await isStoreCompared(parts))) return 'wait'
  const offset = await readStoredOffset(parts)
  if (offset < error.readableFrom) throw error
  return { kind: 'restore', offset }
}

/** Returns the offset before which every record is stored. An empty note means that no sink has started, or that its position was lost. */
async function readStoredOffset({ log, topic, partition }: Partition): Promise<number> {
  const { offset, note } = await log.position(sinkGroup, topic, partition)
  return note === '' ? 0 : offset
}

async function recoverPosition(
  { log, hotState, environment, topic, partition }: Partition,
  replayRecordsMax: number,
): Promise<RecoveryPlan> {
  const appliedOffset = await hotState.appliedOffset(environment, partition)
  const stored = await log.position(sinkGroup, topic, partition)
  return planRecovery({
    appliedOffset,
    oldest: await log.oldest(topic, partition),
    storedOffset: stored.offset,
    hasMovedRecords: readSinkNote(stored.note)?.hasMovedRecords ?? false,
    replayRecordsMax,
  })
}
