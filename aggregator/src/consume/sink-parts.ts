import type { GroupPosition } from '@tollgate/platform/event-log/event-log'
import type { UsageStore } from '@tollgate/platform/usage-store/usage-store'
import { insertToken, type OpenNote } from '@tollgate/schemas/sink-note'
import type { DecodedBatch } from '../domain/decoded-batch.ts'
import type { PartitionParts } from './partition-parts.ts'

export type SinkParts = PartitionParts & {
  readonly usageStore: UsageStore
  /**
   * Name of the ClickHouse cluster, or undefined for a single server. A single server that is killed may lose rows and still
   * know their token (see docs/decisions/clickhouse.md, A redo looks at what is stored).
   */
  readonly cluster: string | undefined
  /** How long the sink lets the counters projection set the marks of a batch before it claims them itself. */
  readonly countersWaitMs: number
  /** A fresh random name, for a position that no sink has touched yet. */
  readonly newLineage: () => string
}

/** A batch whose end no restart can move. */
export type OpenBatch = {
  /** As the log has it, with the note in it. */
  readonly position: GroupPosition
  readonly note: OpenNote
  readonly batch: DecodedBatch
  /** The batch without duplicates. */
  readonly rows: DecodedBatch
}

/** Returns the token of a batch, or one of its further tokens, which count from 1. */
export function tokenOf(
  { topic, partition }: PartitionParts,
  { note, rows }: OpenBatch,
  furtherToken: number,
): string {
  return insertToken(note.lineage, topic, partition, rows.fromOffset, rows.toOffset, furtherToken)
}
