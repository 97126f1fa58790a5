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
import type { DecodedBatch, EventRecord } from '../domain/decoded-batch.ts'
import { requireCaughtUp } from '../clickhouse/caught-up.ts'
import type { Partition } from './partition-parts.ts'

/** Their names go in the address of a query, which may have a megabyte. */
export const customersPerQuery = 200
/** So do ids, each with the name of its customer. */
const idsPerQuery = 500

export type ComparedParts = Pick<Partition, 'environment' | 'partition'> & {
  readonly usageStore: UsageStore
  /** Name of the ClickHouse cluster; undefined: a single server. */
  readonly cluster: string | undefined
}

/** Returns the events of a batch of which ClickHouse has no row at their place in the log. */
export async function listLacking(
  { usageStore, environment, partition }: ComparedParts,
  { fromOffset, toOffset, events }: DecodedBatch,
  pieces: readonly BatchPiece[],
): Promise<EventRecord[]> {
  const range: BatchRange = { environment, partition, fromOffset, toOffset }
  const stored = new Map<number, string>()
  for (const piece of pieces) {
    for (const [offset, id] of await listStored(usageStore, range, piece)) stored.set(offset, id)
  }
  return events.filter(({ offset, event }) => stored.get(offset) !== event.id)
}

/** Whether the tables beside `usage_records` have every debit of these events, and every unreadable record. */
export async function hasSideRows(
  { usageStore, environment, partition }: ComparedParts,
  { fromOffset, toOffset, events, unreadable }: DecodedBatch,
): Promise<boolean> {
  const range: BatchRange = { environment, partition, fromOffset, toOffset }
  const debitTotal = events.filter(({ event }) => BigInt(event.debit ?? 0) > 0n).length
  const debits = await countInRange(usageStore, range, 'credit_debits')
  const kept = await countInRange(usageStore, range, 'unreadable_records')
  return debits >= debitTotal && kept >= unreadable.length
}

/** Whether the hourly roll-up agrees with the records, for the customers and days of these pieces. */
export async function isRolledUp(
  { usageStore, environment }: ComparedParts,
  pieces: readonly BatchPiece[],
  except: CustomerDays = new Set(),
): Promise<boolean> {
  for (const piece of pieces) {
    const differences = await readRollUpDifferences(usageStore, environment, piece)
    const isOf = (customerRef: string): boolean => except.has(nameOfDay(piece, customerRef))
    if (differences.some(({ customerRef }) => !isOf(customerRef))) return false
  }
  return true
}

/** Each customer's days of a meter, as the roll-up of a batch is compared. */
export type CustomerDays = ReadonlySet<string>

export function customerDaysOf({ events }: DecodedBatch): CustomerDays {
  const pieces = cutBatch(events, customersPerQuery)
  return new Set(
    pieces.flatMap((piece) => piece.customerRefs.map((customer) => nameOfDay(piece, customer))),
  )
}

function nameOfDay({ providerId, meterName, dayMs }: BatchPiece, customerRef: string): string {
  return JSON.stringify([providerId, meterName, dayMs, customerRef])
}

/** `unknown`: the records are all repeats, of which no row tells whether this stretch is stored. */
export type Comparison = 'whole' | 'lacking' | 'unknown'

/**
 * Returns whether ClickHouse has a stretch of the log that the sink's position says is stored. Reads neither hot state nor
 * marks, which may be lost as well: a record without a row is a repeat if a row before `beforeOffset` has its id.
 * The roll-up is not compared for `open`: an open batch may be in one of the two tables, and its redo compares them.
 */
export async function compareStored(
  parts: ComparedParts,
  stretch: DecodedBatch,
  beforeOffset: number,
  open?: CustomerDays,
): Promise<Comparison> {
  await requireWholeReplicas(parts)
  const pieces = cutBatch(stretch.events, customersPerQuery)
  const candidates = await listLacking(parts, stretch, pieces)
  if (!(await areRepeats(parts, candidates, beforeOffset))) return 'lacking'
  const withoutRow = new Set(candidates.map(({ offset }) => offset))
  const events = stretch.events.filter(({ offset }) => !withoutRow.has(offset))
  if (!(await hasSideRows(parts, { ...stretch, events }))) return 'lacking'
  if (!(await isRolledUp(parts, pieces, open))) return 'lacking'
  return events.length + stretch.unreadable.length === 0 ? 'unknown' : 'whole'
}

/** Throws where a replica that would be read lacks blocks, which is no loss: the comparison is tried again then. */
export async function requireWholeReplicas({
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
  // The id of a record without a key is its own, so nothing repeats it.
  if (candidates.some(({ event }) => event.idempotencyKey === null)) return false
  for (const events of byProvider(candidates)) {
    for (let from = 0; from < events.length; from += idsPerQuery) {
      const some = events.slice(from, from + idsPerQuery)
      const asked = {
        providerId: some[0]!.providerId,
        customerRefs: [...new Set(some.map(({ customerRef }) => customerRef))],
        ids: [...new Set(some.map(({ id }) => id))],
      }
      const known = await listIdsStoredBefore(parts.usageStore, parts, beforeOffset, asked)
      if (known.size < asked.ids.length) return false
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
