import { compareStored, customerDaysOf, type CustomerDays } from './compare-stored.ts'
import { tryReadStretch } from './read-stretch.ts'
import type { SinkParts } from './sink-parts.ts'

/** The first look is small: nearly always the newest records are there, and then so are those before them. */
const firstStretchRecords = 500
const growth = 4

/**
 * Returns the offset from which on ClickHouse lacks records of the log that `storedOffset` says are stored, or undefined
 * if it has the newest of them.
 *
 * The sink stores in the order of the log, so an older copy of the store lacks the newest records of a partition. So the
 * log is compared backwards, in stretches that grow, until one is whole. The whole one is stored again too, because a copy
 * that was taken while rows were written may cut its tables at different places.
 *
 * A batch that is open from `storedOffset` to `openTo` may be stored in part. That is no loss, and its redo compares the
 * roll-up of its customers.
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
  let records = firstStretchRecords
  while (toOffset > oldest) {
    const fromOffset = Math.max(oldest, toOffset - records)
    const stretch = await tryReadStretch(parts, fromOffset, toOffset)
    // A stretch that cannot be read cannot be stored again, and what lies below it may have to be read through it.
    if (stretch === undefined) return missingFrom
    const comparison = await compareStored(parts, stretch, storedOffset, open)
    if (comparison === 'whole') return missingFrom === undefined ? undefined : fromOffset
    if (comparison === 'lacking') missingFrom = fromOffset
    toOffset = fromOffset
    records = Math.min(records * growth, parts.readLimits.recordsMax)
  }
  return missingFrom
}

/** Undefined where the open batch cannot be read: then it cannot be done again either. */
async function readCustomerDays(
  parts: SinkParts,
  fromOffset: number,
  openTo: number | undefined,
): Promise<CustomerDays | undefined> {
  if (openTo === undefined) return undefined
  const batch = await tryReadStretch(parts, fromOffset, openTo)
  return batch && customerDaysOf(batch)
}
