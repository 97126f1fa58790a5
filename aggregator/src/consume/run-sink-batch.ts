import type { GroupPosition } from '@tollgate/platform/event-log/event-log'
import { sinkGroup } from '@tollgate/schemas/consumer-groups'
import { boundRows } from '../domain/bound-rows.ts'
import { BatchDecoder } from '../domain/decode-batch.ts'
import type { DecodedBatch } from '../domain/decoded-batch.ts'
import {
  closeBatchIn,
  firstNote,
  openBatchIn,
  readSinkNote,
  writeSinkNote,
  type ClosedNote,
  type SinkNote,
} from '@tollgate/schemas/sink-note'
import { eventsToStore } from '../domain/usage-rows.ts'
import { checkPosition } from './partition-parts.ts'
import { readRange } from './read-range.ts'
import { claimSinkMarks } from './claim-sink-marks.ts'
import { tokenOf, type OpenBatch, type SinkParts } from './sink-parts.ts'
import { storeAgain, type Repair } from './store-again.ts'
import { storeRows } from './store-rows.ts'

export type SinkOutcome =
  | { readonly kind: 'idle' }
  /** HotState lost its marks. The counters must first rebuild them up to the position. */
  | { readonly kind: 'rebuilding' }
  | {
      readonly kind: 'stored'
      readonly position: GroupPosition
      /** Number of stored records. */
      readonly recordTotal: number
      readonly duplicateTotal: number
      /** Set if the stored rows were compared with the batch. */
      readonly repair: Repair | undefined
      readonly batch: DecodedBatch
    }

/**
 * Stores one batch that starts at `position`. The order of effects, and what a crash after each of them leaves, is:
 *
 *  1. Commit the open note {position, openTo}: the batch has an end that no restart can move. Nothing is stored yet.
 *  2. Claim marks: from now on it is final which records are duplicates. A redo reads the same result.
 *  3. Insert unreadable records. 4. Insert rows. The store has a part of the batch or all of it, perhaps in the table and not in
 *     the tables of its views. A redo inserts the same rows with the same token; the store ignores existing rows and adds missing ones.
 *     If the token may be lost or forgotten, a redo verifies the rows instead (store-again.ts).
 *  5. Commit the end and clear the note: done.
 *
 * A redo without step 1 would see a longer log, form a longer batch with another token, and store rows twice. A stale process that
 * continues after another sink took over fails at step 1 or 5 with GroupFencedError. If it continues in between, it inserts the
 * same rows as the other sink, under the same token.
 */
export async function runSinkBatch(
  parts: SinkParts,
  position: GroupPosition,
): Promise<SinkOutcome> {
  const { log, topic, partition } = parts
  const known = readSinkNote(position.note)
  // A missing note means that no sink has stored anything, or that the positions were lost. Then all records that are still in the
  // log are stored again.
  const oldest = known === undefined ? await log.oldest(topic, partition) : 0
  const fromOffset = Math.max(position.offset, oldest)
  await checkPosition(parts, fromOffset)
  const note = known ?? firstNote(parts.newLineage())

  const openTo = note.state === 'open' ? note.openTo : undefined
  const batch = await readBatch(parts, fromOffset, openTo)
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
  const isCompared = mustCompare(parts, note, batch)
  const opened =
    note.state === 'open' ? { position, note } : await openBatch(parts, position, note, batch)

  const firstOffsets = await claimSinkMarks(parts, batch, parts.countersWaitMs)
  if (firstOffsets === 'rebuilding') return { kind: 'rebuilding' }

  const events = eventsToStore(batch.events, firstOffsets)
  const open = { ...opened, batch, rows: { ...batch, events } }
  const stored = await storeOpen(parts, open, isCompared)

  const closed = writeSinkNote(closeBatchIn(opened.note, parts.newLineage))
  const next = { offset: batch.toOffset, note: closed }
  await log.commit(sinkGroup, topic, partition, stored.position, next)
  return {
    kind: 'stored',
    position: next,
    recordTotal: events.length,
    duplicateTotal: batch.events.length - events.length,
    repair: stored.repair,
    batch,
  }
}

/** Milliseconds for which Keeper certainly remembers a token, because it remembers those of the last thousands of blocks. */
const rememberedMs = 30_000

/**
 * Returns whether the batch may already be stored, so that its rows must be compared. A batch below `storeAgainTo` was stored
 * before, with unknown boundaries. For an open batch, a single server may have lost the token or the rows, and a cluster forgets
 * the token after enough further blocks.
 */
function mustCompare({ cluster }: SinkParts, note: SinkNote, batch: DecodedBatch): boolean {
  if (batch.fromOffset < (note.storeAgainTo ?? 0)) return true
  if (note.state === 'closed') return false
  const openMs = Math.abs(Date.now() - (note.openedAtMs ?? 0))
  return cluster === undefined || openMs > rememberedMs
}

async function openBatch(
  { log, topic, partition }: SinkParts,
  position: GroupPosition,
  note: ClosedNote,
  { fromOffset, toOffset }: DecodedBatch,
): Promise<Omit<OpenBatch, 'batch' | 'rows'>> {
  const openNote = openBatchIn(note, toOffset, Date.now())
  const open = { offset: fromOffset, note: writeSinkNote(openNote) }
  await log.commit(sinkGroup, topic, partition, position, open)
  return { position: open, note: openNote }
}

async function storeOpen(
  parts: SinkParts,
  open: OpenBatch,
  isCompared: boolean,
): Promise<{ readonly position: GroupPosition; readonly repair: Repair | undefined }> {
  if (isCompared) return await storeAgain(parts, open)
  await storeRows(parts, open.rows, tokenOf(parts, open, 0))
  return { position: open.position, repair: undefined }
}

/**
 * Reads a batch. A new batch has the records of one read, as far as their rows fit into one insert. An open batch is read again to exactly its end, in as many reads as
 * necessary.
 */
async function readBatch(
  parts: SinkParts,
  fromOffset: number,
  openTo: number | undefined,
): Promise<DecodedBatch> {
  if (openTo !== undefined) return await readRange(parts, fromOffset, openTo)
  const { log, topic, partition, readLimits } = parts
  const decoder = new BatchDecoder(fromOffset)
  decoder.add(await log.read(topic, partition, fromOffset, readLimits))
  return boundRows(decoder.finish())
}
