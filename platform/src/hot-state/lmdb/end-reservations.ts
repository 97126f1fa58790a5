import type { LmdbStore } from '../../lmdb/lmdb-store.ts'
import type { EntryAddress } from '../hot-state.ts'
import {
  partsFirst,
  type ExtendOutcome,
  type ReservationExtension,
  type SettledReservation,
  type SettlementElsewhere,
  type UsedPart,
} from '../reservations.ts'
import { drop, dropAll, reduce } from './reduce-reservations.ts'
import {
  addHeld,
  expiredReservations,
  firstEndedPlace,
  readPlace,
  readReservation,
  removePlace,
  removeReservation,
  reservationPlace,
  writePlace,
  writeReservation,
  type PlaceRecord,
  type Reservation,
} from './reservation-records.ts'

/* How reservations end. All functions of this file must run inside a write transaction. */

/** Releases a reservation. Returns whether one of the places held it. */
export function release(
  store: LmdbStore,
  places: readonly EntryAddress[],
  reservationId: string,
  nowMs: number,
): boolean {
  const released = places.map((at) => releaseAt(store, at, reservationId, nowMs))
  return released.includes(true)
}

function releaseAt(
  store: LmdbStore,
  at: EntryAddress,
  reservationId: string,
  nowMs: number,
): boolean {
  const place = reservationPlace(at)
  const reservation = readReservation(store, place, reservationId)
  if (reservation === undefined || reservation.isUsed || isExpired(reservation, nowMs)) return false
  const record = readPlace(store, place)
  drop(store, place, record, reservationId, reservation)
  writePlace(store, place, record)
  return true
}

/** Moves the expiry of a reservation. If the first place holds it, so does the second one as far as it holds anything. */
export function extend(
  store: LmdbStore,
  { at, reservationId, ttlMs, lifetimeMsMax, together }: ReservationExtension,
  nowMs: number,
): ExtendOutcome {
  const known = readReservation(store, reservationPlace(at), reservationId)
  if (known === undefined || known.isUsed || isExpired(known, nowMs)) return { kind: 'gone' }
  const latestMs = latestExpiry(known, lifetimeMsMax)
  if (nowMs + ttlMs > latestMs) return { kind: 'too-long', latestMs }
  const expiresAtMs = Math.max(known.expiresAtMs, nowMs + ttlMs)
  for (const each of together === undefined ? [at] : [at, { ...at, ...together }]) {
    const place = reservationPlace(each)
    const reservation = readReservation(store, place, reservationId)
    if (reservation === undefined || reservation.isUsed) continue
    removeReservation(store, place, reservationId, reservation)
    writeReservation(store, place, reservationId, { ...reservation, expiresAtMs })
    writePlace(store, place, readPlace(store, place), expiresAtMs)
  }
  return { kind: 'extended', expiresAtMs }
}

/** The creation of a reservation of an earlier release is not known, so it cannot be extended. */
function latestExpiry({ createdAtMs, expiresAtMs }: Reservation, lifetimeMsMax: number): number {
  return createdAtMs === undefined ? expiresAtMs : createdAtMs + lifetimeMsMax
}

/**
 * Ends reservations because their usage is counted. They stay known until their expiry, so that a repeated request finds them and
 * makes no second one, unless `isForgotten` is set. Expired reservations end too, because their usage is no longer in transit. With
 * `part`, only the used units are subtracted.
 */
export function settle(
  store: LmdbStore,
  at: { readonly space: string; readonly partition: number },
  settled: readonly SettledReservation[],
  nowMs: number,
  countedElsewhere?: SettlementElsewhere['countedIn'],
): void {
  for (const { subject, scope, reservationId, isForgotten = false, part } of partsFirst(settled)) {
    const place = reservationPlace({ ...at, subject, scope })
    const reservation = readReservation(store, place, reservationId)
    if (reservation === undefined || reservation.isUsed) continue
    const record = readPlace(store, place)
    if (part !== undefined && isSettledBefore(record, part, countedElsewhere)) continue
    if (countedElsewhere !== undefined && !isExpired(reservation, nowMs)) {
      recordElsewhere(record, countedElsewhere, part)
    }
    if (part !== undefined) {
      const isUsedUp = reduce(store, place, record, reservationId, reservation, part, 'remember')
      if (isUsedUp) releaseAt(store, { ...at, ...part.together }, reservationId, nowMs)
    } else if (isForgotten) {
      drop(store, place, record, reservationId, reservation)
    } else {
      addHeld(record, reservation, -1n)
      writeReservation(store, place, reservationId, { ...reservation, isUsed: true })
    }
    writePlace(store, place, record, nowMs)
  }
}

function isExpired({ expiresAtMs }: Reservation, nowMs: number): boolean {
  return expiresAtMs <= nowMs
}

function recordElsewhere(
  { countedElsewhere }: PlaceRecord,
  { partition, nextOffset }: SettlementElsewhere['countedIn'],
  part: UsedPart | undefined,
): void {
  const before = countedElsewhere.get(partition) ?? 0
  const countedTo = part === undefined ? nextOffset : part.offset + 1
  countedElsewhere.set(partition, Math.max(before, countedTo))
}

function isSettledBefore(
  { countedElsewhere }: PlaceRecord,
  { offset }: UsedPart,
  countedIn: SettlementElsewhere['countedIn'] | undefined,
): boolean {
  return countedIn !== undefined && offset < (countedElsewhere.get(countedIn.partition) ?? 0)
}

/** Deletes the data of places whose last reservation expired before that time. Returns the number of deleted keys. */
export function sweepReservations(
  store: LmdbStore,
  partition: Buffer,
  expiredBeforeMs: number,
  keysMax: number,
): number {
  let swept = 0
  while (swept < keysMax) {
    const place = firstEndedPlace(store, partition, expiredBeforeMs)
    if (place === undefined) break
    const record = readPlace(store, place)
    const expired = expiredReservations(store, place, expiredBeforeMs, keysMax - swept)
    record.wholeAtOpening = 0
    dropAll(store, place, record, expired)
    swept += expired.length
    if (record.keptTotal > 0) break
    removePlace(store, place, record)
    swept += 1
  }
  return swept
}
