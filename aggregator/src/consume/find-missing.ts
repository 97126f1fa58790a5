import { compareStored, customerDaysOf, type CustomerDays } from './compare-stored.ts'
import { tryReadRange } from './read-range.ts'
import type { SinkParts } from './sink-parts.ts'

/** The first range is small: in nearly all cases the newest records are stored, and then so are all earlier ones. */
const firstRangeRecords = 500
const growth = 4

/**
 * Returns the offset from which ClickHouse lacks records of the log that should be stored before `storedOffset`. Returns undefined
 * if it has the newest of them.
 *
 * The sink stores records in the order of the log, so an older copy of the store lacks the newest records of a partition. The log
 * is therefore compared backwards in growing ranges, until one range is complete. That range is stored again too, because a copy
 * that was made during inserts may have its tables at different positions.
 *
 * A batch that is open from `storedOffset` to `openTo` may be stored in part. This is not a loss, and its redo compares the roll-up
 * of its customers.
 */
export async function findMissing(
  parts: SinkParts,
  storedOffset: number,
  openTo: number | undefined,
): Promise<number | undefined> {
  const open = await readCustomerDays(parts, storedOffset, openTo)
  const oldest = await parts.log.oldest(parts.topic, parts.partition)
  let missingFrom: number | undefined
  let toOffset = storedOffset
  let records = firstRangeRecords
  while (toOffset > oldest) {
    const fromOffset = Math.max(oldest, toOffset - records)
    const range = await tryReadRange(parts, fromOffset, toOffset)
    // A range that cannot be read cannot be stored again. Earlier records cannot be reached either, since the sink would have to
    // read this range after them.
    if (range === undefined) return missingFrom
    const comparison = await compareStored(parts, range, storedOffset, open)
    if (comparison === 'complete') return missingFrom === undefined ? undefined : fromOffset
    if (comparison === 'incomplete') missingFrom = fromOffset
    toOffset = fromOffset
    records = Math.min(records * growth, parts.readLimits.recordsMax)
  }
  return missingFrom
}

/** Returns undefined if the open batch cannot be read, because then it cannot be stored again either. */
async function readCustomerDays(
  parts: SinkParts,
  fromOffset: number,
  openTo: number | undefined,
): Promise<CustomerDays | undefined> {
  if (openTo === undefined) return undefined
  const batch = await tryReadRange(parts, fromOffset, openTo)
  return batch && customerDaysOf(batch)
}
