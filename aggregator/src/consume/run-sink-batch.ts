import type { GroupPosition } from '@tollgate/platform/event-log/event-log'
import type { UsageStore } from '@tollgate/platform/usage-store/usage-store'
import { sinkGroup } from '@tollgate/schemas/consumer-groups'
import { BatchDecoder } from '../domain/decode-batch.ts'
import type { DecodedBatch } from '../domain/decoded-batch.ts'
import {
  firstNote,
  insertToken,
  readSinkNote,
  writeSinkNote,
  type SinkNote,
} from '@tollgate/schemas/sink-note'
import { eventsToStore, unreadableColumns, usageColumns } from '../domain/usage-rows.ts'
import { checkPosition, type PartitionParts } from './partition-parts.ts'
import { settleSinkMarks } from './settle-sink-marks.ts'

export type SinkParts = PartitionParts & {
  readonly usageStore: UsageStore
  /** How long the sink lets the counters projection set the marks of a batch before it claims them itself. */
  readonly countersWaitMs: number
  /** A fresh random name, for a position that no sink has touched yet. */
  readonly newLineage: () => string
}

export type SinkOutcome =
  | { readonly kind: 'idle' }
  /** HotState lost its marks; the counters must first be made again up to the position. */
  | { readonly kind: 'rebuilding' }
  | {
      readonly kind: 'stored'
      readonly position: GroupPosition
      readonly rowTotal: number
      readonly duplicateTotal: number
      readonly batch: DecodedBatch
    }

/**
 * Stores one batch that starts at `position`. The order of effects, and what a crash after each of them leaves:
 *
 *   1. commit the open note {position, openTo}: the batch has an end that no restart can move. Nothing is stored yet.
 *   2. claim marks: who is a duplicate is settled for good. A redo reads the same answer.
 *   3. insert unreadable records, 4. insert rows: the store has part or all of the batch, perhaps the table and not
 *      its views. A redo inserts the same rows with the same token; the store drops what it has and adds what it lacks.
 *   5. commit the end and clear the note: done.
 *
 * Without step 1 a redo would see a longer log, cut a longer batch with another token, and store rows twice.
 * A zombie that wakes up after another sink took over fails at 1 or 5 with GroupFencedError; if it wakes up between,
 * it inserts what the other one inserts, under the same token.
 */
export async function runSinkBatch(
  parts: SinkParts,
  position: GroupPosition,
): Promise<SinkOutcome> {
  const { log, topic, partition } = parts
  const known = readSinkNote(position.note)
  // Without a note nobody stores yet, or the positions were lost: then all that the log still has is stored again.
  const oldest = known === undefined ? await log.oldest(topic, partition) : 0
  const fromOffset = Math.max(position.offset, oldest)
  await checkPosition(parts, fromOffset)
  const note = known ?? firstNote(parts.newLineage())

  const batch = await readBatch(parts, fromOffset, note.openTo)
  if (batch.toOffset === batch.fromOffset) return { kind: 'idle' }
  return parts.traceBatch('store', parts, batch, () => storeBatch(parts, position, note, batch))
}

async function storeBatch(
  parts: SinkParts,
  position: GroupPosition,
  note: SinkNote,
  batch: DecodedBatch,
): Promise<SinkOutcome> {
  const { log, topic, partition } = parts
  const open = await openBatch(parts, position, note, batch)

  const firstOffsets = await settleSinkMarks(parts, batch, parts.countersWaitMs)
  if (firstOffsets === 'rebuilding') return { kind: 'rebuilding' }

  const stored = await insertBatch(parts, batch, note.lineage, firstOffsets)

  const next = {
    offset: batch.toOffset,
    note: writeSinkNote({ ...note, openTo: undefined }),
  }
  await log.commit(sinkGroup, topic, partition, open, next)
  return { kind: 'stored', position: next, batch, ...stored }
}

async function openBatch(
  { log, topic, partition }: SinkParts,
  position: GroupPosition,
  note: SinkNote,
  { fromOffset, toOffset }: DecodedBatch,
): Promise<GroupPosition> {
  if (note.openTo !== undefined) return position
  const open = {
    offset: fromOffset,
    note: writeSinkNote({ ...note, openTo: toOffset }),
  }
  await log.commit(sinkGroup, topic, partition, position, open)
  return open
}

async function insertBatch(
  { usageStore, environment, topic, partition }: SinkParts,
  batch: DecodedBatch,
  lineage: string,
  firstOffsets: ReadonlyMap<string, number>,
): Promise<{ rowTotal: number; duplicateTotal: number }> {
  const token = insertToken(lineage, topic, partition, batch.fromOffset, batch.toOffset)
  if (batch.unreadable.length > 0) {
    const table = `${environment}.unreadable_records`
    await usageStore.insert(table, unreadableColumns(partition), batch.unreadable, token)
  }
  const events = eventsToStore(batch.events, firstOffsets)
  if (events.length > 0) {
    const table = `${environment}.usage_records`
    await usageStore.insert(table, usageColumns(partition), events, token)
  }
  return { rowTotal: events.length, duplicateTotal: batch.events.length - events.length }
}

/** A new batch is what one read gives; an open one is read again to exactly its end, in as many reads as it takes. */
async function readBatch(
  { log, topic, partition, readLimits }: SinkParts,
  fromOffset: number,
  openTo: number | undefined,
): Promise<DecodedBatch> {
  const decoder = new BatchDecoder(fromOffset)
  if (openTo === undefined) {
    decoder.add(await log.read(topic, partition, fromOffset, readLimits))
    return decoder.finish()
  }
  while (decoder.toOffset < openTo) {
    const recordsMax = Math.min(readLimits.recordsMax, openTo - decoder.toOffset)
    const records = await log.read(topic, partition, decoder.toOffset, {
      ...readLimits,
      recordsMax,
    })
    if (records.length === 0) {
      throw new Error(`${topic}/${partition} ends at ${decoder.toOffset}, inside the open batch`)
    }
    decoder.add(records)
  }
  return decoder.finish()
}
