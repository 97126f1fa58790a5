import { sinkGroup } from '@tollgate/schemas/consumer-groups'
import { planRecovery, type RecoveryPlan } from '../domain/plan-recovery.ts'
import { readSinkNote } from '@tollgate/schemas/sink-note'
import type { Partition } from './partition-parts.ts'

/** Where the counters of a partition go on, or from where their counts have to be made again. */
export async function recoverPosition(
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
