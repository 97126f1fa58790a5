import type { GroupPosition } from '@tollgate/platform/event-log/event-log'
import type { UsageStore } from '@tollgate/platform/usage-store/usage-store'
import { insertToken, type OpenNote } from '@tollgate/schemas/sink-note'
import type { DecodedBatch } from '../domain/decoded-batch.ts'
import type { PartitionParts } from './partition-parts.ts'

export type SinkParts = PartitionParts & {
  readonly usageStore: UsageStore
  /**
   * Name of the ClickHouse cluster, or undefined for a single server. A single server may lose rows at a crash and still know their
   * token (see docs/decisions/clickhouse.md, A redo looks at what is stored).
   */
  readonly cluster: string | undefined
  /** Milliseconds that the sink waits for the counters projection to set the marks of a batch before it claims them itself. */
  readonly countersWaitMs: number
  /** Returns a new random name for a position that no sink has used yet. */
  readonly newLineage: () => string
}

/** A batch with an end that no restart can move. */
export type OpenBatch = {
  /** The position in the log's consumer group, including its note. */
  readonly position: GroupPosition
  readonly note: OpenNote
  readonly batch: DecodedBatch
  /** The batch without duplicates. */
  readonly rows: DecodedBatch
}

/** Returns the insert token of a batch. `furtherToken` 0 is its first token; further tokens count from 1. */
export function tokenOf(
  { topic, partition }: PartitionParts,
  { note, rows }: OpenBatch,
  furtherToken: number,
): string {
  return insertToken(note.lineage, topic, partition, rows.fromOffset, rows.toOffset, furtherToken)
}
