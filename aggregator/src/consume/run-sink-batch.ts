import type { GroupPosition } from '@tollgate/platform/event-log/event-log'
import { sinkGroup } from '@tollgate/schemas/consumer-groups'
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
import { readStretch } from './read-stretch.ts'
import { settleSinkMarks } from './settle-sink-marks.ts'
import { tokenOf, type OpenBatch, type SinkParts } from './sink-parts.ts'
import { storeAgain, type Repair } from './store-again.ts'
import { storeRows } from './store-rows.ts'

export type SinkOutcome =
  | { readonly kind: 'idle' }
  /** HotState lost its marks; the counters must first be made again up to the position. */
  | { readonly kind: 'rebuilding' }
  | {
      readonly kind: 'stored'
      readonly position: GroupPosition
      readonly rowTotal: number
      readonly duplicateTotal: number
      /** Where the batch was stored again after something had failed, and ClickHouse is a single server. */
      readonly repair: Repair | undefined
      readonly batch: DecodedBatch
    }

/**
 * Stores one batch that starts at `position`. The order of effects, and what a crash after each of them leaves:
 *
 *   1. commit the open note {position, openTo}: the batch has an end that no restart can move. Nothing is stored yet.
 *   2. claim marks: who is a duplicate is settled for good. A redo reads the same answer.
 *   3. insert unreadable records, 4. insert rows: the store has part or all of the batch, perhaps the table and not
 *      its views. A redo inserts the same rows with the same token; the store drops what it has and adds what it lacks.
 *      A redo does not take that on trust where the token may be lost or forgotten (store-again.ts).
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

  const firstOffsets = await settleSinkMarks(parts, batch, parts.countersWaitMs)
  if (firstOffsets === 'rebuilding') return { kind: 'rebuilding' }

  const events = eventsToStore(batch.events, firstOffsets)
  const open = { ...opened, batch, rows: { ...batch, events } }
  const stored = await storeOpen(parts, open, isCompared)

  const closed = writeSinkNote(closeBatchIn(opened.note))
  const next = { offset: batch.toOffset, note: closed }
  await log.commit(sinkGroup, topic, partition, stored.position, next)
  return {
    kind: 'stored',
    position: next,
    rowTotal: events.length,
    duplicateTotal: batch.events.length - events.length,
    repair: stored.repair,
    batch,
  }
}

/** Keeper keeps a token for at least this long, because it keeps those of the last thousands of blocks. */
const rememberedMs = 30_000

/**
 * Returns whether the batch may be stored already, so that only its rows can tell. A batch below `storeAgainTo` has been
 * stored once, with whatever ends. Of an open batch a single server may have lost the token or the rows, and a cluster
 * forgets the token when enough blocks have come after it.
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

/** A new batch is what one read gives; an open one is read again to exactly its end, in as many reads as it takes. */
async function readBatch(
  parts: SinkParts,
  fromOffset: number,
  openTo: number | undefined,
): Promise<DecodedBatch> {
  if (openTo !== undefined) return await readStretch(parts, fromOffset, openTo)
  const { log, topic, partition, readLimits } = parts
  const decoder = new BatchDecoder(fromOffset)
  decoder.add(await log.read(topic, partition, fromOffset, readLimits))
  return decoder.finish()
}
