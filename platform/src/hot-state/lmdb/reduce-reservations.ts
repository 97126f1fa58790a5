import type { LmdbStore } from '../../lmdb/lmdb-store.ts'
import type { UsedPart } from '../reservations.ts'
import {
  addHeld,
  isEmpty,
  readReservation,
  removeReservation,
  unitsAfter,
  writePlace,
  writeReservation,
  type PlaceRecord,
  type Reservation,
  type ReservationPlace,
} from './reservation-records.ts'

/* Changes of the reservations of a place. All functions of this file must run inside a write transaction. */

/** Drops reservations. Changes the record, and stores it if anything was dropped. */
export function dropAll(
  store: LmdbStore,
  place: ReservationPlace,
  record: PlaceRecord,
  dropped: readonly string[],
): void {
  for (const id of dropped) drop(store, place, record, id, readReservation(store, place, id)!)
  if (dropped.length > 0) writePlace(store, place, record)
}

export function drop(
  store: LmdbStore,
  place: ReservationPlace,
  record: PlaceRecord,
  reservationId: string,
  reservation: Reservation,
): void {
  removeReservation(store, place, reservationId, reservation)
  if (!reservation.isUsed) addHeld(record, reservation, -1n)
  record.keptTotal -= 1
}

/**
 * Subtracts used units from a reservation. Returns whether nothing is left of it; it is then dropped, or remembered as used. One that
 * held nothing here is not changed.
 */
export function reduce(
  store: LmdbStore,
  place: ReservationPlace,
  record: PlaceRecord,
  reservationId: string,
  reservation: Reservation,
  used: Pick<UsedPart, 'onEvery' | 'bySeries'>,
  ifUsedUp: 'drop' | 'remember',
): boolean {
  if (isEmpty(reservation)) return false
  const rest = unitsAfter(reservation, used)
  if (isEmpty(rest) && ifUsedUp === 'drop') {
    drop(store, place, record, reservationId, reservation)
    return true
  }
  addHeld(record, reservation, -1n)
  if (isEmpty(rest)) {
    writeReservation(store, place, reservationId, { ...reservation, isUsed: true })
    return true
  }
  addHeld(record, rest, 1n)
  writeReservation(store, place, reservationId, { ...reservation, ...rest })
  return false
}
