import type { LmdbStore } from '../../lmdb/lmdb-store.ts'
import type { EntryAddress } from '../hot-state.ts'
import type { UsedPart } from '../reservations.ts'
import { hotKey, keySpaces, partitionPart, textPart, timePart } from './hot-keys.ts'

/*
 * Records of reservations per (subject, scope): one record of the place, each reservation by its id, and the ids by expiry. The
 * places of a partition are indexed by the expiry of their last reservation, for the sweep.
 */

/** A (subject, scope) with reservations. */
export type ReservationPlace = {
  readonly partition: Buffer
  /** The key parts of subject and scope, concatenated. */
  readonly names: Buffer
}

export type PlaceRecord = {
  /** Units that are held on every series, in millionths. */
  reserved: bigint
  /** Units that are held on one series only, by series. */
  readonly reservedBySeries: Map<string, bigint>
  /** Number of stored reservations, including used ones. */
  keptTotal: number
  /** Offset below which another partition has counted usage of reservations at this place, by partition. */
  readonly countedElsewhere: Map<number, number>
  /** Expiry of the last reservation, in Unix milliseconds. */
  lastExpiryMs: number
  /**
   * The opening of the state (openings.ts) at which it was known that all usage in transit that must be reserved first is reserved
   * here. 0 means never, or that a sweep has begun to delete data of the place.
   */
  wholeAtOpening: number
}

export type Reservation = {
  readonly units: bigint
  /** The held units by series, if they are not held on every series. */
  readonly bySeries: ReadonlyMap<string, bigint> | undefined
  readonly expiresAtMs: number
  /** Its usage was counted, so it no longer holds units. */
  readonly isUsed: boolean
  /** Undefined for reservations of earlier releases. */
  readonly createdAtMs: number | undefined
}

type StoredPlace = readonly [
  reserved: string,
  keptTotal: number,
  countedElsewhere: readonly (readonly [number, number])[],
  lastExpiryMs: number,
  wholeAtOpening?: number,
  reservedBySeries?: StoredUnits,
]
type StoredReservation = readonly [
  units: string,
  expiresAtMs: number,
  isUsed: boolean,
  bySeries?: StoredUnits | null,
  createdAtMs?: number,
]
type StoredUnits = readonly (readonly [series: string, units: string])[]

const nothingKept: StoredPlace = ['0', 0, [], 0]

export function reservationPlace({ space, partition, subject, scope }: EntryAddress) {
  const names = Buffer.concat([textPart(subject), textPart(scope)])
  return { partition: partitionPart(space, partition), names }
}

export function readPlace(store: LmdbStore, place: ReservationPlace): PlaceRecord {
  const stored = readJson(store, placeKey(place)) as StoredPlace | undefined
  const [
    reserved,
    keptTotal,
    countedElsewhere,
    lastExpiryMs,
    wholeAtOpening,
    reservedBySeries = [],
  ] = stored ?? nothingKept
  return {
    reserved: BigInt(reserved),
    reservedBySeries: decodeUnits(reservedBySeries),
    keptTotal,
    countedElsewhere: new Map(countedElsewhere),
    lastExpiryMs,
    // Records of earlier releases lack this field.
    wholeAtOpening: wholeAtOpening ?? 0,
  }
}

/**
 * Writes the record of a place. This and all following functions must run inside a write transaction. `neededUntilMs` extends the
 * place's lifetime and never shortens it.
 */
export function writePlace(
  store: LmdbStore,
  place: ReservationPlace,
  record: PlaceRecord,
  neededUntilMs = 0,
): void {
  if (neededUntilMs > record.lastExpiryMs) {
    store.removeSync(endKey(place, record.lastExpiryMs))
    record.lastExpiryMs = neededUntilMs
    store.putSync(endKey(place, record.lastExpiryMs), place.names)
  }
  const plain = [
    record.reserved.toString(),
    record.keptTotal,
    [...record.countedElsewhere],
    record.lastExpiryMs,
    record.wholeAtOpening,
  ] as const
  const { reservedBySeries } = record
  const stored: StoredPlace =
    reservedBySeries.size === 0 ? plain : [...plain, encodeUnits(reservedBySeries)]
  store.putSync(placeKey(place), Buffer.from(JSON.stringify(stored)))
}

export function removePlace(store: LmdbStore, place: ReservationPlace, record: PlaceRecord): void {
  store.removeSync(endKey(place, record.lastExpiryMs))
  store.removeSync(placeKey(place))
}

export function readReservation(
  store: LmdbStore,
  place: ReservationPlace,
  reservationId: string,
): Reservation | undefined {
  const stored = readJson(store, reservationKey(place, reservationId))
  if (stored === undefined) return undefined
  const [units, expiresAtMs, isUsed, bySeries, createdAtMs] = stored as StoredReservation
  return {
    units: BigInt(units),
    bySeries: bySeries ? decodeUnits(bySeries) : undefined,
    expiresAtMs,
    isUsed,
    createdAtMs,
  }
}

/** Adds the units of a reservation to those that the place holds, or subtracts them. */
export function addHeld(
  record: PlaceRecord,
  { units, bySeries }: Pick<Reservation, 'units' | 'bySeries'>,
  sign: 1n | -1n,
): void {
  if (bySeries === undefined) record.reserved += sign * units
  for (const [series, held] of bySeries ?? []) {
    const sum = (record.reservedBySeries.get(series) ?? 0n) + sign * held
    if (sum === 0n) record.reservedBySeries.delete(series)
    else record.reservedBySeries.set(series, sum)
  }
}

/** Returns what is left of the units of a reservation after a part of them was used. */
export function unitsAfter(
  { units, bySeries }: Pick<Reservation, 'units' | 'bySeries'>,
  { onEvery, bySeries: used }: Pick<UsedPart, 'onEvery' | 'bySeries'>,
): Pick<Reservation, 'units' | 'bySeries'> {
  if (bySeries === undefined) return { units: atLeastZero(units - onEvery), bySeries }
  const rest = new Map<string, bigint>()
  for (const [series, held] of bySeries) {
    rest.set(series, atLeastZero(held - (used.get(series) ?? 0n)))
  }
  const [first = 0n] = rest.values()
  return { units: first, bySeries: rest }
}

export function isEmpty({ units, bySeries }: Pick<Reservation, 'units' | 'bySeries'>): boolean {
  return (
    units === 0n && [...(bySeries ?? new Map<string, bigint>()).values()].every((of) => of === 0n)
  )
}

function atLeastZero(amount: bigint): bigint {
  return amount > 0n ? amount : 0n
}

/** Returns the units of a reservation that count against caps on this series. */
export function unitsOn(
  { units, bySeries }: Pick<Reservation, 'units' | 'bySeries'>,
  series: string,
): bigint {
  return bySeries === undefined ? units : (bySeries.get(series) ?? 0n)
}

/** Returns the reserved units of a place that count against caps on this series. */
export function reservedOn({ reserved, reservedBySeries }: PlaceRecord, series: string): bigint {
  return reserved + (reservedBySeries.get(series) ?? 0n)
}

function encodeUnits(units: ReadonlyMap<string, bigint>): StoredUnits {
  return [...units].map(([series, amount]) => [series, amount.toString()])
}

function decodeUnits(stored: StoredUnits): Map<string, bigint> {
  return new Map(stored.map(([series, amount]) => [series, BigInt(amount)]))
}

export function writeReservation(
  store: LmdbStore,
  place: ReservationPlace,
  reservationId: string,
  { units, bySeries, expiresAtMs, isUsed, createdAtMs }: Reservation,
): void {
  const held = bySeries === undefined ? null : encodeUnits(bySeries)
  const plain = [units.toString(), expiresAtMs, isUsed, held] as const
  const stored: StoredReservation = createdAtMs === undefined ? plain : [...plain, createdAtMs]
  store.putSync(reservationKey(place, reservationId), Buffer.from(JSON.stringify(stored)))
  store.putSync(expiryKey(place, expiresAtMs, reservationId), Buffer.from(reservationId))
}

export function removeReservation(
  store: LmdbStore,
  place: ReservationPlace,
  reservationId: string,
  { expiresAtMs }: Reservation,
): void {
  store.removeSync(reservationKey(place, reservationId))
  store.removeSync(expiryKey(place, expiresAtMs, reservationId))
}

/** Returns the ids of reservations that expire at or before that time, the earliest first. */
export function expiredReservations(
  store: LmdbStore,
  place: ReservationPlace,
  expiredAtMs: number,
  limit: number,
): string[] {
  const start = hotKey(keySpaces.reservationExpiry, place.partition, place.names)
  const end = Buffer.concat([start, timePart(expiredAtMs + 1)])
  const ids: string[] = []
  for (const { value } of store.getRange({ start, end, limit })) {
    ids.push(Buffer.from(value).toString('utf8'))
  }
  return ids
}

/** Returns the place that ends first, if that is before the given time. */
export function firstEndedPlace(
  store: LmdbStore,
  partition: Buffer,
  endedBeforeMs: number,
): ReservationPlace | undefined {
  const start = hotKey(keySpaces.reservationEnd, partition)
  const end = Buffer.concat([start, timePart(endedBeforeMs)])
  for (const { value } of store.getRange({ start, end, limit: 1 })) {
    return { partition, names: Buffer.from(value) }
  }
  return undefined
}

function placeKey({ partition, names }: ReservationPlace): Buffer {
  return hotKey(keySpaces.reservationPlace, partition, names)
}

function endKey({ partition, names }: ReservationPlace, lastExpiryMs: number): Buffer {
  return hotKey(keySpaces.reservationEnd, partition, timePart(lastExpiryMs), names)
}

function reservationKey({ partition, names }: ReservationPlace, reservationId: string): Buffer {
  return hotKey(keySpaces.reservation, partition, names, textPart(reservationId))
}

function expiryKey(place: ReservationPlace, expiresAtMs: number, reservationId: string): Buffer {
  const { partition, names } = place
  const parts = [partition, names, timePart(expiresAtMs), textPart(reservationId)]
  return hotKey(keySpaces.reservationExpiry, ...parts)
}

function readJson(store: LmdbStore, key: Buffer): unknown {
  const bytes = store.getBinary(key)
  return bytes === undefined ? undefined : JSON.parse(Buffer.from(bytes).toString('utf8'))
}
