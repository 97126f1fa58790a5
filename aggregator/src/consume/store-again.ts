import { createHash } from 'node:crypto'
import type { GroupPosition } from '@tollgate/platform/event-log/event-log'
import { sinkGroup } from '@tollgate/schemas/consumer-groups'
import { writeSinkNote } from '@tollgate/schemas/sink-note'
import {
  addActiveCustomers,
  addToRollUp,
  readRollUpDifferences,
} from '../clickhouse/stored-batch.ts'
import { cutBatch, type BatchPiece } from '../domain/cut-batch.ts'
import type { DecodedBatch } from '../domain/decoded-batch.ts'
import {
  comparedPieces,
  customersPerQuery,
  hasSideRows,
  isRolledUp,
  listMissing,
  requireCompleteReplicas,
  type ComparedPiece,
} from './compare-stored.ts'
import { rowsOf } from '../domain/usage-rows.ts'
import { tokenOf, type OpenBatch, type SinkParts } from './sink-parts.ts'
import { storeRows } from './store-rows.ts'

/** Each further token is needed only if ClickHouse crashes once more between a token and its rows. */
const furtherTokensMax = 5
const correctionsMax = 5

/** Rows that were missing in ClickHouse or stored twice. */
export type Repair = {
  /** Number of times that the complete batch was stored again. */
  readonly againTotal: number
  /** Number of hourly sums that were corrected, in all roll-ups. */
  readonly hourTotal: number
}

/**
 * Stores a batch that may already be stored in part or completely, in a ClickHouse that may have crashed meanwhile or may be an
 * older copy. A single server stores rows and the memory of their token separately. After a crash between the two it has only one
 * of them: it would ignore a repeated insert although rows are missing, or store the rows twice. A cluster forgets tokens after
 * some thousand blocks. So the stored rows are read, and nothing is inserted if none is missing (see docs/decisions/clickhouse.md,
 * A redo looks at what is stored).
 *
 *  1. Insert under every token that the batch has had. ClickHouse adds a token and its rows under one lock. An earlier insert that
 *     still runs after a time-out therefore adds nothing after these inserts, neither to tables nor to the roll-up.
 *  2. While records are missing: commit a further token to the note and insert everything under it. A crash in between leaves an
 *     unused token, or one that the next redo starts with. Tables of records keep one row per record, however often it was inserted.
 *  3. The roll-ups sum all inserted rows, so they may now be too low or too high: add the differences. The sink of a partition is
 *     the only writer of its customers. After a crash in between, the next redo finds the remaining differences.
 *  4. Add the customers to the sketches of active customers, which contain each customer once.
 *
 * Returns the position that is now in the log.
 */
export async function storeAgain(
  parts: SinkParts,
  open: OpenBatch,
): Promise<{ readonly position: GroupPosition; readonly repair: Repair }> {
  const pieces = cutBatch(rowsOf(open.rows.events), customersPerQuery)
  // The pieces include customers whose records are all duplicates: a comparison may have left their roll-up to this redo.
  const rolledUpPieces = cutBatch(rowsOf(open.batch.events), customersPerQuery)
  const complete = await completeBatch(parts, open, pieces, rolledUpPieces)
  for (const piece of rolledUpPieces) {
    await addActiveCustomers(parts.usageStore, parts.environment, piece)
  }
  return complete
}

async function completeBatch(
  parts: SinkParts,
  open: OpenBatch,
  pieces: readonly BatchPiece[],
  rolledUpPieces: readonly BatchPiece[],
): ReturnType<typeof storeAgain> {
  if (
    open.note.furtherTokens === 0 &&
    (await isStoredOnce(parts, open.rows, pieces, rolledUpPieces))
  ) {
    return { position: open.position, repair: { againTotal: 0, hourTotal: 0 } }
  }
  for (let token = 0; token <= open.note.furtherTokens; token += 1) {
    await storeRows(parts, open.rows, tokenOf(parts, open, token))
  }
  const complete = await insertUntilComplete(parts, open, pieces)
  let hourTotal = 0
  for (const compared of comparedPieces(rolledUpPieces)) {
    hourTotal += await correctRollUp(parts, complete, compared)
  }
  return {
    position: complete.position,
    repair: { againTotal: complete.note.furtherTokens - open.note.furtherTokens, hourTotal },
  }
}

/**
 * Returns whether the batch is stored completely. This can be trusted only for the first token of a batch. With further tokens, an
 * insert that timed out may still be running, and step 1 must be executed before it completes.
 */
async function isStoredOnce(
  parts: SinkParts,
  rows: DecodedBatch,
  pieces: readonly BatchPiece[],
  rolledUpPieces: readonly BatchPiece[],
): Promise<boolean> {
  return (await hasAllRecords(parts, rows, pieces)) && (await isRolledUp(parts, rolledUpPieces))
}

async function insertUntilComplete(
  parts: SinkParts,
  open: OpenBatch,
  pieces: readonly BatchPiece[],
): Promise<OpenBatch> {
  let at = open
  while (!(await hasAllRecords(parts, at.rows, pieces))) {
    if (at.note.furtherTokens - open.note.furtherTokens === furtherTokensMax) {
      throw new Error(
        `ClickHouse acknowledged batch ${tokenOf(parts, open, 0)}, but rows of it are missing`,
      )
    }
    at = await commitFurtherToken(parts, at)
    await storeRows(parts, at.rows, tokenOf(parts, at, at.note.furtherTokens))
  }
  return at
}

async function commitFurtherToken(
  { log, topic, partition }: SinkParts,
  open: OpenBatch,
): Promise<OpenBatch> {
  const note = { ...open.note, furtherTokens: open.note.furtherTokens + 1 }
  const position = { offset: open.position.offset, note: writeSinkNote(note) }
  await log.commit(sinkGroup, topic, partition, open.position, position)
  return { ...open, note, position }
}

/** Returns whether the tables of records have every record of the batch. */
async function hasAllRecords(
  parts: SinkParts,
  rows: DecodedBatch,
  pieces: readonly BatchPiece[],
): Promise<boolean> {
  await requireCompleteReplicas(parts)
  if (!(await hasSideRows(parts, rows))) return false
  return (await listMissing(parts, rows, pieces)).length === 0
}

/**
 * Corrects a roll-up for a piece and returns how many of its rows differed. The token of a correction is derived from its content. If an
 * earlier redo sent the same correction and it is still running, the two have the same token and are stored once. If the token is
 * known and its rows are lost, the next correction inserts them.
 */
async function correctRollUp(
  parts: SinkParts,
  open: OpenBatch,
  { rollUp, piece }: ComparedPiece,
): Promise<number> {
  const { usageStore, environment } = parts
  await requireCompleteReplicas(parts)
  let hourTotal = 0
  for (let correction = 0; ; correction += 1) {
    const differences = await readRollUpDifferences(usageStore, parts, piece, rollUp)
    if (differences.length === 0) return hourTotal
    if (correction === correctionsMax) {
      throw new Error(
        `ClickHouse acknowledged corrections of ${rollUp.table.name} for batch ${tokenOf(parts, open, 0)}, but it still differs`,
      )
    }
    hourTotal = Math.max(hourTotal, differences.length)
    const hash = createHash('sha256').update(JSON.stringify(differences)).digest('hex')
    const token = `${tokenOf(parts, open, 0)}-correction-${correction}-${hash}`
    await addToRollUp(usageStore, environment, rollUp, differences, token)
  }
}
