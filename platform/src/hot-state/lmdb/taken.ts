import type { LmdbStore } from '../../lmdb/lmdb-store.ts'
import { bucketFormName, sumSince } from '../buckets.ts'
import {
  expiredPerReadMax,
  type FurtherCap,
  type PlaceRequest,
  type Taken,
  type TakenQuery,
} from '../reservations.ts'
import { bucketKey, decodeBuckets } from './bucket-list.ts'
import { decodeCounter } from './counter-format.ts'
import { hotKey, keySpaces, textPart } from './hot-keys.ts'
import { readOpenings } from './openings.ts'
import { countsPart, readPartitionHead } from './partition-head.ts'
import {
  expiredReservations,
  readPlace,
  readReservation,
  reservationPlace,
  reservedOn,
  unitsOn,
  type PlaceRecord,
  type ReservationPlace,
} from './reservation-records.ts'

/** Reads the used and reserved units of a place. Writes nothing. All its reads must share one snapshot. */
export function readTaken(
  store: LmdbStore,
  { at, minOffset, series, windowId }: TakenQuery,
  nowMs: number,
): Taken | 'behind' {
  const place = reservationPlace(at)
  const record = readPlace(store, place)
  const expired = expiredReservations(store, place, nowMs, expiredPerReadMax)
  const isBehind = readPartitionHead(store, place.partition).fence < minOffset
  const mayBeMore = expired.length === expiredPerReadMax
  if (isBehind && (mayBeMore || mayMissUsage(store, place, record, expired))) return 'behind'
  const { subject, scope } = at
  return {
    used: usedOf(store, place, { subjects: [subject], scope, series, windowId }),
    reserved: reservedOn(record, series) - heldBy(store, place, expired, series),
  }
}

function heldBy(
  store: LmdbStore,
  place: ReservationPlace,
  ids: readonly string[],
  series: string,
): bigint {
  let held = 0n
  for (const id of ids) {
    const reservation = readReservation(store, place, id)!
    if (!reservation.isUsed) held += unitsOn(reservation, series)
  }
  return held
}

/**
 * Returns whether usage in transit may have no reservation here: the reservation may have been lost or swept, or has expired and is
 * dropped by the next step.
 */
export function mayMissUsage(
  store: LmdbStore,
  place: ReservationPlace,
  { wholeAtOpening }: PlaceRecord,
  expired: readonly string[],
): boolean {
  if (wholeAtOpening !== readOpenings(store)) return true
  return expired.some((id) => !readReservation(store, place, id)!.isUsed)
}

export type CountersOfWindow = {
  readonly subjects: readonly string[]
  readonly scope: string
  readonly series: string
  readonly windowId: string
}

/** Returns the sum of these counters for the window, in the partition of the place. */
export function usedOf(
  store: LmdbStore,
  { partition }: ReservationPlace,
  { subjects, scope, series, windowId }: CountersOfWindow,
): bigint {
  const counts = countsPart(partition, readPartitionHead(store, partition).inUse)
  let used = 0n
  for (const subject of subjects) {
    const names = [subject, scope, series].map(textPart)
    const stored = store.getBinary(hotKey(keySpaces.counter, counts, ...names))
    const amounts = decodeCounter(stored).get(windowId)
    if (amounts !== undefined) used += amounts.scoped + amounts.unscoped
  }
  return used
}

/** Returns the usage that counts against a further cap of the request, in the partition of the place. */
export function usedUnder(
  store: LmdbStore,
  place: ReservationPlace,
  { subjects, at: { scope } }: PlaceRequest,
  { series, within }: FurtherCap,
): bigint {
  if ('windowId' in within) {
    return usedOf(store, place, { subjects, scope, series, windowId: within.windowId })
  }
  const { partition } = place
  const counts = countsPart(partition, readPartitionHead(store, partition).inUse)
  let used = 0n
  for (const subject of subjects) {
    const names = [subject, scope, series].map(textPart) as [Buffer, Buffer, Buffer]
    const stored = store.getBinary(bucketKey(counts, ...names, bucketFormName(within.form)))
    if (stored !== undefined) used += sumSince(decodeBuckets(stored), within.fromBucket)
  }
  return used
}
