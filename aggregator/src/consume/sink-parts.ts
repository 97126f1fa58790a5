import type { GroupPosition } from '@tollgate/platform/event-log/event-log'
import type { UsageStore } from '@tollgate/platform/usage-store/usage-store'
import { insertToken, type SinkNote } from '@tollgate/schemas/sink-note'
import type { DecodedBatch } from '../domain/decoded-batch.ts'
import type { PartitionParts } from './partition-parts.ts'

export type SinkParts = PartitionParts & {
  readonly usageStore: UsageStore
  /** No cluster: when it is killed, ClickHouse may lose rows and know their token all the same (decision 49). */
  readonly isSingleServer: boolean
  /** How long the sink lets the counters projection set the marks of a batch before it claims them itself. */
  readonly countersWaitMs: number
  /** A fresh random name, for a position that no sink has touched yet. */
  readonly newLineage: () => string
}

/** A batch whose end no restart can move. */
export type OpenBatch = {
  /** As the log has it, with the note in it. */
  readonly position: GroupPosition
  readonly note: SinkNote
  /** Without duplicates. */
  readonly rows: DecodedBatch
}

/** The token of a batch, or the `again`-th of its further ones. */
export function tokenOf(
  { topic, partition }: PartitionParts,
  { note, rows }: OpenBatch,
  again: number,
): string {
  return insertToken(note.lineage, topic, partition, rows.fromOffset, rows.toOffset, again)
}
