/** What is known of a partition when its counters are to go on. */
export type RecoveryFacts = {
  /** Every smaller offset has been counted; 0 also when the counts are lost. */
  readonly appliedOffset: number
  /** The oldest offset that the log still has. */
  readonly oldest: number
  /** Every record with a smaller offset is in ClickHouse. */
  readonly storedOffset: number
  /** Whether ClickHouse has records that were never in this log. */
  readonly hasMovedRecords: boolean
  /** Fewer stored records than that are counted from the log again rather than summed up from ClickHouse. */
  readonly replayRecordsMax: number
}

export type RecoveryPlan =
  | { readonly kind: 'go-on'; readonly offset: number }
  /** The counts of all records before `offset` are to be made from ClickHouse; the log has the rest. */
  | { readonly kind: 'restore'; readonly offset: number }

/**
 * Counts that were lost look like those of a new partition: both begin at 0. For a new one nothing was stored yet, or
 * little, and the log has all of it; then counting from the log needs no second store to be there.
 */
export function planRecovery(facts: RecoveryFacts): RecoveryPlan {
  const { appliedOffset, oldest, storedOffset, hasMovedRecords, replayRecordsMax } = facts
  // An older copy of the hot state may be behind what the log still has, but not behind what is stored.
  const isOlderCopy = appliedOffset < oldest && oldest <= storedOffset
  if (appliedOffset > 0 && !isOlderCopy) return { kind: 'go-on', offset: appliedOffset }
  const isShort = storedOffset < replayRecordsMax
  if (oldest === 0 && isShort && !hasMovedRecords) return { kind: 'go-on', offset: 0 }
  // A sink that lost its position stores again from the oldest record on; what is older was stored before it went.
  return { kind: 'restore', offset: Math.max(storedOffset, oldest) }
}
