import type { LmdbStore } from '../../lmdb/environment.ts'
import type { EntryAddress } from '../hot-state.ts'
import {
  expiredPerStepMax,
  type ReserveOutcome,
  type ReserveRequest,
  type SettledReservation,
  type SettlementElsewhere,
} from '../reservations.ts'
import { decodeCounter } from './counter-format.ts'
import { hotKey, keySpaces, textPart } from './hot-keys.ts'
import { countsPart, readHead } from './partition-head.ts'
import {
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
  type ReservationPlace,
} from './reservation-records.ts'

/* Everything here is called inside a write transaction. */

/** 'again': so much has expired that not all of it was dropped. */
export function reserve(
  store: LmdbStore,
  request: ReserveRequest,
  nowMs: number,
): ReserveOutcome | 'again' {
  const { at, reservationId, units, cap, elsewhere } = request
  const place = reservationPlace(at)
  const record = readPlace(store, place)
  const isBehind = readHead(store, place.partition).fence < request.minOffset
  if (isBehind || isPublishedSince(store, place, request) || isReadBefore(record, request)) {
    return { kind: 'behind' }
  }

  const droppedTotal = dropExpired(store, place, record, nowMs, expiredPerStepMax)
  const used = usedHere(store, request, place)
  const known = readReservation(store, place, reservationId)
  if (known !== undefined && known.expiresAtMs > nowMs) {
    return admitted(known, used, record)
  }
  if (droppedTotal === expiredPerStepMax) return 'again'
  if (record.keptTotal >= request.reservationsMax) return { kind: 'full' }
  if (cap !== null && used + elsewhere.amount + record.reserved + units > cap) {
    return { kind: 'denied', taken: { used, reserved: record.reserved } }
  }

  const reservation = { units, expiresAtMs: nowMs + request.ttlMs, isUsed: false }
  writeReservation(store, place, reservationId, reservation)
  record.reserved += units
  record.keptTotal += 1
  writePlace(store, place, record, reservation.expiresAtMs)
  return admitted(reservation, used, record)
}

function admitted(
  { units, expiresAtMs }: { readonly units: bigint; readonly expiresAtMs: number },
  used: bigint,
  { reserved }: PlaceRecord,
): ReserveOutcome {
  return { kind: 'admitted', units, expiresAtMs, taken: { used, reserved } }
}

function isPublishedSince(
  store: LmdbStore,
  { partition, names }: ReservationPlace,
  { document }: ReserveRequest,
): boolean {
  const stored = store.getBinary(hotKey(keySpaces.entry, partition, names))
  return (stored && Buffer.from(stored).toString('utf8')) !== document
}

/** Whether usage of a reservation that was kept here has been counted in another partition since that was read. */
function isReadBefore({ countedElsewhere }: PlaceRecord, { elsewhere }: ReserveRequest): boolean {
  for (const [partition, readAt] of elsewhere.appliedOffsets) {
    if (readAt < (countedElsewhere.get(partition) ?? 0)) return true
  }
  return false
}

/** Changes the record, and stores it where anything was dropped. Returns how many were. */
function dropExpired(
  store: LmdbStore,
  place: ReservationPlace,
  record: PlaceRecord,
  expiredAtMs: number,
  limit: number,
): number {
  const expired = expiredReservations(store, place, expiredAtMs, limit)
  for (const reservationId of expired) drop(store, place, record, reservationId)
  if (expired.length > 0) writePlace(store, place, record)
  return expired.length
}

function drop(
  store: LmdbStore,
  place: ReservationPlace,
  record: PlaceRecord,
  reservationId: string,
): void {
  const reservation = readReservation(store, place, reservationId)!
  removeReservation(store, place, reservationId, reservation)
  if (!reservation.isUsed) record.reserved -= reservation.units
  record.keptTotal -= 1
}

function usedHere(
  store: LmdbStore,
  { at, subjects, series, windowId }: ReserveRequest,
  { partition }: ReservationPlace,
): bigint {
  const counts = countsPart(partition, readHead(store, partition).inUse)
  let used = 0n
  for (const subject of subjects) {
    const names = [subject, at.scope, series].map(textPart)
    const stored = store.getBinary(hotKey(keySpaces.counter, counts, ...names))
    const amounts = decodeCounter(stored).get(windowId)
    if (amounts !== undefined) used += amounts.scoped + amounts.unscoped
  }
  return used
}

/** Whether it was held until now. */
export function release(
  store: LmdbStore,
  at: EntryAddress,
  reservationId: string,
  nowMs: number,
): boolean {
  const place = reservationPlace(at)
  if (!isHeld(readReservation(store, place, reservationId), nowMs)) return false
  const record = readPlace(store, place)
  drop(store, place, record, reservationId)
  writePlace(store, place, record)
  return true
}

/**
 * Ends those that are held, because their usage is counted. They stay known until they would have expired, so that a
 * repeated request is told of them and makes no second one.
 */
export function settle(
  store: LmdbStore,
  at: { readonly space: string; readonly partition: number },
  settled: readonly SettledReservation[],
  nowMs: number,
  countedElsewhere?: SettlementElsewhere['countedIn'],
): void {
  for (const { subject, scope, reservationId } of settled) {
    const place = reservationPlace({ ...at, subject, scope })
    const reservation = readReservation(store, place, reservationId)
    if (!isHeld(reservation, nowMs)) continue
    const record = readPlace(store, place)
    record.reserved -= reservation.units
    writeReservation(store, place, reservationId, { ...reservation, isUsed: true })
    if (countedElsewhere !== undefined) noteElsewhere(record, countedElsewhere)
    writePlace(store, place, record, nowMs)
  }
}

function isHeld(reservation: Reservation | undefined, nowMs: number): reservation is Reservation {
  return reservation !== undefined && !reservation.isUsed && reservation.expiresAtMs > nowMs
}

function noteElsewhere(
  { countedElsewhere }: PlaceRecord,
  { partition, nextOffset }: SettlementElsewhere['countedIn'],
): void {
  const before = countedElsewhere.get(partition) ?? 0
  countedElsewhere.set(partition, Math.max(before, nextOffset))
}

/** Deletes what is kept of places whose last reservation expired before that. Returns how many keys went. */
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
    swept += dropExpired(store, place, record, expiredBeforeMs, keysMax - swept)
    if (record.keptTotal > 0) break
    removePlace(store, place, record)
    swept += 1
  }
  return swept
}
