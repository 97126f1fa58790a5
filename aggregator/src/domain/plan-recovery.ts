/** The state of a partition before its counters continue. */
export type RecoveryFacts = {
  /** Every record with a smaller offset is counted. Also 0 if the counts are lost. */
  readonly appliedOffset: number
  /** The oldest offset in the log. */
  readonly oldest: number
  /** Every record with a smaller offset is in ClickHouse. */
  readonly storedOffset: number
  /** True if ClickHouse has records that were never in this log. */
  readonly hasMovedRecords: boolean
  /** The partition is counted from the log if fewer records than this are stored, and from ClickHouse otherwise. */
  readonly replayRecordsMax: number
}

export type RecoveryPlan =
  | { readonly kind: 'continue'; readonly offset: number }
  /** The counts of all records before `offset` are rebuilt from ClickHouse. The log has the rest. */
  | { readonly kind: 'restore'; readonly offset: number }

/**
 * Decides how the counters of a partition continue. Lost counts look like those of a new partition: both begin at 0. For a new
 * partition, little or nothing is stored and the log has every record. Counting from the log then works without ClickHouse.
 */
export function planRecovery(facts: RecoveryFacts): RecoveryPlan {
  const { appliedOffset, oldest, storedOffset, hasMovedRecords, replayRecordsMax } = facts
  // An older copy of the hot state may be behind the oldest record in the log, but the log is trimmed only up to stored records.
  const isOlderCopy = appliedOffset < oldest && oldest <= storedOffset
  if (appliedOffset > 0 && !isOlderCopy) return { kind: 'continue', offset: appliedOffset }
  const isShort = storedOffset < replayRecordsMax
  if (oldest === 0 && isShort && !hasMovedRecords) return { kind: 'continue', offset: 0 }
  // A sink that lost its position starts again at the oldest record. Everything before that record was stored before it was
  // trimmed.
  return { kind: 'restore', offset: Math.max(storedOffset, oldest) }
}
