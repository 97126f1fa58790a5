import type { UsageStore } from '@tollgate/platform/usage-store/usage-store'
import type { MeterEvent } from '@tollgate/schemas/meter-event'
import {
  countInRange,
  listIdsStoredBefore,
  listStored,
  readRollUpDifferences,
  type BatchRange,
} from '../clickhouse/stored-batch.ts'
import { cutBatch, type BatchPiece } from '../domain/cut-batch.ts'
import { meterNameOf, rowsOf } from '../domain/usage-rows.ts'
import type { DecodedBatch, EventRecord } from '../domain/decoded-batch.ts'
import { requireCaughtUp } from '../clickhouse/caught-up.ts'
import type { RollUp } from '../clickhouse/roll-up.ts'
import { rollUps } from '../clickhouse/roll-ups.ts'
import type { Partition } from './partition-parts.ts'

/** Maximum number of customers in one query. Their references are part of the URL, which may have 1 MB. */
export const customersPerQuery = 200
/** Maximum number of ids in one query. They are part of the URL too, each with a customer reference. */
const idsPerQuery = 500

export type ComparedParts = Pick<Partition, 'environment' | 'partition'> & {
  readonly usageStore: UsageStore
  /** Name of the ClickHouse cluster, or undefined for a single server. */
  readonly cluster: string | undefined
}

/** Returns the events of the batch that lack a row in ClickHouse at their offset, on any of their meters. */
export async function listMissing(
  { usageStore, environment, partition }: ComparedParts,
  { fromOffset, toOffset, events }: DecodedBatch,
  pieces: readonly BatchPiece[],
): Promise<EventRecord[]> {
  const range: BatchRange = { environment, partition, fromOffset, toOffset }
  const stored = new Map<string, Map<number, string>>()
  for (const piece of pieces) {
    const ofMeter = stored.get(piece.meterName) ?? new Map<number, string>()
    stored.set(piece.meterName, ofMeter)
    const found = await listStored(usageStore, range, piece)
    for (const [offset, id] of found) ofMeter.set(offset, id)
  }
  return events.filter((record) =>
    rowsOf([record]).some((row) => stored.get(meterNameOf(row))?.get(row.offset) !== row.event.id),
  )
}

/** Returns whether the tables beside `usage_records` have all debits of these events and all unreadable records. */
export async function hasSideRows(
  { usageStore, environment, partition }: ComparedParts,
  { fromOffset, toOffset, events, unreadable }: DecodedBatch,
): Promise<boolean> {
  const range: BatchRange = { environment, partition, fromOffset, toOffset }
  const debitTotal = events.filter(({ event }) => BigInt(event.debit ?? 0) !== 0n).length
  const debits = await countInRange(usageStore, range, 'credit_debits')
  const kept = await countInRange(usageStore, range, 'unreadable_records')
  return debits >= debitTotal && kept >= unreadable.length
}

/** A roll-up, and the piece of a batch for which it is compared. */
export type ComparedPiece = { readonly rollUp: RollUp; readonly piece: BatchPiece }

/** Returns what to compare for the pieces of a batch. A roll-up that is compared by log partition is compared once per meter and day. */
export function comparedPieces(pieces: readonly BatchPiece[]): ComparedPiece[] {
  const days = new Map(pieces.map((piece) => [nameOfDay(piece), piece]))
  return rollUps.flatMap((rollUp) =>
    (rollUp.comparedBy === 'customer_ref' ? pieces : [...days.values()]).map((piece) => ({
      rollUp,
      piece,
    })),
  )
}

/** Returns whether the roll-ups agree with the records of the customers and days of these pieces. */
export async function isRolledUp(
  parts: ComparedParts,
  pieces: readonly BatchPiece[],
  except: CustomerDays = new Set(),
): Promise<boolean> {
  for (const { rollUp, piece } of comparedPieces(pieces)) {
    const isByCustomer = rollUp.comparedBy === 'customer_ref'
    if (!isByCustomer && except.has(nameOfDay(piece))) continue
    const differences = await readRollUpDifferences(parts.usageStore, parts, piece, rollUp)
    if (differences.some(({ keys }) => !except.has(nameOfDay(piece, keys['customer_ref'])))) {
      return false
    }
  }
  return true
}

/** The days on which a meter was used in a batch, and those on which each of its customers used it. Roll-ups are compared per day. */
export type CustomerDays = ReadonlySet<string>

export function customerDaysOf({ events }: DecodedBatch): CustomerDays {
  const pieces = cutBatch(rowsOf(events), customersPerQuery)
  return new Set(
    pieces.flatMap((piece) => [
      nameOfDay(piece),
      ...piece.customerRefs.map((customer) => nameOfDay(piece, customer)),
    ]),
  )
}

function nameOfDay({ providerId, meterName, dayMs }: BatchPiece, customerRef?: string): string {
  return JSON.stringify([providerId, meterName, dayMs, customerRef ?? null])
}

/** 'unknown': all records are duplicates, so no row proves that the range is stored. */
export type Comparison = 'complete' | 'incomplete' | 'unknown'

/**
 * Returns whether ClickHouse has a range of the log that is stored according to the sink's position. It reads neither the hot state
 * nor marks, because those may be lost as well: a record without a row is a duplicate if a row before `beforeOffset` has its id.
 * The roll-ups of `open` are not compared: an open batch may be in some of the tables only, and its redo compares them.
 */
export async function compareStored(
  parts: ComparedParts,
  batch: DecodedBatch,
  beforeOffset: number,
  open?: CustomerDays,
): Promise<Comparison> {
  await requireCompleteReplicas(parts)
  const pieces = cutBatch(rowsOf(batch.events), customersPerQuery)
  const candidates = await listMissing(parts, batch, pieces)
  if (!(await areRepeats(parts, candidates, beforeOffset))) return 'incomplete'
  const withoutRow = new Set(candidates.map(({ offset }) => offset))
  const events = batch.events.filter(({ offset }) => !withoutRow.has(offset))
  if (!(await hasSideRows(parts, { ...batch, events }))) return 'incomplete'
  if (!(await isRolledUp(parts, pieces, open))) return 'incomplete'
  return events.length + batch.unreadable.length === 0 ? 'unknown' : 'complete'
}

/** Throws if a replica that a query would read lacks blocks. These are not lost, so the comparison is retried later. */
export async function requireCompleteReplicas({
  usageStore,
  environment,
  cluster,
}: ComparedParts): Promise<void> {
  if (cluster !== undefined) await requireCaughtUp(usageStore, environment, cluster)
}

async function areRepeats(
  parts: ComparedParts,
  candidates: readonly EventRecord[],
  beforeOffset: number,
): Promise<boolean> {
  // A record without a key has a unique id, so it cannot be a duplicate.
  if (candidates.some(({ event }) => event.idempotencyKey === null)) return false
  for (const events of byProvider(candidates)) {
    for (let from = 0; from < events.length; from += idsPerQuery) {
      const some = events.slice(from, from + idsPerQuery)
      const query = {
        providerId: some[0]!.providerId,
        customerRefs: [...new Set(some.map(({ customerRef }) => customerRef))],
        ids: [...new Set(some.map(({ id }) => id))],
      }
      const known = await listIdsStoredBefore(parts.usageStore, parts, beforeOffset, query)
      if (known.size < query.ids.length) return false
    }
  }
  return true
}

function byProvider(records: readonly EventRecord[]): Iterable<readonly MeterEvent[]> {
  const events = new Map<string, MeterEvent[]>()
  for (const { event } of records) {
    const ofProvider = events.get(event.providerId)
    if (ofProvider === undefined) events.set(event.providerId, [event])
    else ofProvider.push(event)
  }
  return events.values()
}
