import { createHash } from 'node:crypto'
import type { GroupPosition } from '@tollgate/platform/event-log/event-log'
import { sinkGroup } from '@tollgate/schemas/consumer-groups'
import { writeSinkNote } from '@tollgate/schemas/sink-note'
import { addToRollUp, readRollUpDifferences } from '../clickhouse/stored-batch.ts'
import { cutBatch, type BatchPiece } from '../domain/cut-batch.ts'
import type { DecodedBatch } from '../domain/decoded-batch.ts'
import {
  customersPerQuery,
  hasSideRows,
  isRolledUp,
  listLacking,
  requireWholeReplicas,
} from './compare-stored.ts'
import { tokenOf, type OpenBatch, type SinkParts } from './sink-parts.ts'
import { storeRows } from './store-rows.ts'

/** Each is needed only if ClickHouse is killed once more between a token and its rows. */
const furtherTokensMax = 5
const correctionsMax = 5

/** What ClickHouse had lost, or had twice. */
export type Repair = {
  /** How often the whole batch was stored anew. */
  readonly againTotal: number
  /** How many hours of the roll-up were put right. */
  readonly hourTotal: number
}

/**
 * Stores a batch that may be stored already, in part or whole, in a ClickHouse that may have been killed meanwhile or may
 * be an older copy. A single server keeps rows and the memory of their token apart. Killed between the two it has one
 * without the other, and would drop a repeated insert although rows are missing, or store them twice. A cluster forgets
 * tokens after some thousand blocks. So the sink reads what is stored, and inserts nothing where nothing is missing (see
 * docs/decisions/clickhouse.md, A redo looks at what is stored).
 *
 *   1. insert under every token that the batch has had. ClickHouse takes a token and its rows under one lock: an earlier
 *      insert which it may still be at, after a time-out, adds nothing behind these, neither to tables nor to roll-up.
 *   2. as long as records are missing: note a further token, insert all under it. A crash in between leaves a token that
 *      nobody used, or one that the next redo begins with. Tables of records keep one row of each, however often it came.
 *   3. the roll-up sums up whatever it is given, so it may have too little by now, or too much: add the differences.
 *      The sink of a partition is the only writer of its customers. Killed in between, the next redo finds those left.
 *
 * Returns the position that the log has now.
 */
export async function storeAgain(
  parts: SinkParts,
  open: OpenBatch,
): Promise<{ readonly position: GroupPosition; readonly repair: Repair }> {
  const pieces = cutBatch(open.rows.events, customersPerQuery)
  // Also of customers whose records are all repeats: a comparison may have left their roll-up to this redo.
  const rolledUpPieces = cutBatch(open.batch.events, customersPerQuery)
  if (
    open.note.furtherTokens === 0 &&
    (await isStoredOnce(parts, open.rows, pieces, rolledUpPieces))
  ) {
    return { position: open.position, repair: { againTotal: 0, hourTotal: 0 } }
  }
  for (let token = 0; token <= open.note.furtherTokens; token += 1) {
    await storeRows(parts, open.rows, tokenOf(parts, open, token))
  }
  const whole = await fillUp(parts, open, pieces)
  let hourTotal = 0
  for (const piece of rolledUpPieces) hourTotal += await correctRollUp(parts, whole, piece)
  return {
    position: whole.position,
    repair: { againTotal: whole.note.furtherTokens - open.note.furtherTokens, hourTotal },
  }
}

/**
 * Whether nothing is to be done. Only the first token of a batch may be trusted for that: with further ones, an insert
 * that timed out may still be on its way, and step 1 has to get ahead of it.
 */
async function isStoredOnce(
  parts: SinkParts,
  rows: DecodedBatch,
  pieces: readonly BatchPiece[],
  rolledUpPieces: readonly BatchPiece[],
): Promise<boolean> {
  return (await isWhole(parts, rows, pieces)) && (await isRolledUp(parts, rolledUpPieces))
}

async function fillUp(
  parts: SinkParts,
  open: OpenBatch,
  pieces: readonly BatchPiece[],
): Promise<OpenBatch> {
  let at = open
  while (!(await isWhole(parts, at.rows, pieces))) {
    if (at.note.furtherTokens - open.note.furtherTokens === furtherTokensMax) {
      throw new Error(`ClickHouse does not keep batch ${tokenOf(parts, open, 0)}`)
    }
    at = await noteFurtherToken(parts, at)
    await storeRows(parts, at.rows, tokenOf(parts, at, at.note.furtherTokens))
  }
  return at
}

async function noteFurtherToken(
  { log, topic, partition }: SinkParts,
  open: OpenBatch,
): Promise<OpenBatch> {
  const note = { ...open.note, furtherTokens: open.note.furtherTokens + 1 }
  const position = { offset: open.position.offset, note: writeSinkNote(note) }
  await log.commit(sinkGroup, topic, partition, open.position, position)
  return { ...open, note, position }
}

/** Whether the tables of records have every record of the batch. */
async function isWhole(
  parts: SinkParts,
  rows: DecodedBatch,
  pieces: readonly BatchPiece[],
): Promise<boolean> {
  await requireWholeReplicas(parts)
  if (!(await hasSideRows(parts, rows))) return false
  return (await listLacking(parts, rows, pieces)).length === 0
}

/**
 * The token of a correction is made of what it corrects, so one that an earlier redo sent, and that may still be on its
 * way, is this very one: it is stored once. If it is known and lost, the next one does it. Returns how many hours differed.
 */
async function correctRollUp(
  parts: SinkParts,
  open: OpenBatch,
  piece: BatchPiece,
): Promise<number> {
  const { usageStore, environment } = parts
  await requireWholeReplicas(parts)
  let hourTotal = 0
  for (let correction = 0; ; correction += 1) {
    const differences = await readRollUpDifferences(usageStore, environment, piece)
    if (differences.length === 0) return hourTotal
    if (correction === correctionsMax) {
      throw new Error(`ClickHouse does not keep the roll-up of batch ${tokenOf(parts, open, 0)}`)
    }
    hourTotal = Math.max(hourTotal, differences.length)
    const hash = createHash('sha256').update(JSON.stringify(differences)).digest('hex')
    const token = `${tokenOf(parts, open, 0)}-correction-${correction}-${hash}`
    await addToRollUp(usageStore, environment, differences, token)
  }
}
