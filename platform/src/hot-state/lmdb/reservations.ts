import type { LmdbStore } from '../../lmdb/lmdb-store.ts'
import {
  expiredPerStepMax,
  type BatchMode,
  type FurtherCap,
  type PlaceRequest,
  type ReserveOutcome,
  type ReserveRequest,
  type Taken,
} from '../reservations.ts'
import { release } from './end-reservations.ts'
import { hotKey, keySpaces } from './hot-keys.ts'
import { readMarks } from './marks.ts'
import { readOpenings } from './openings.ts'
import { readPartitionHead } from './partition-head.ts'
import { drop, dropAll, reduce } from './reduce-reservations.ts'
import {
  addHeld,
  expiredReservations,
  readPlace,
  readReservation,
  reservationPlace,
  reservedOn,
  unitsOn,
  writePlace,
  writeReservation,
  type PlaceRecord,
  type Reservation,
  type ReservationPlace,
} from './reservation-records.ts'
import { mayMissUsage, usedOf, usedUnder } from './taken.ts'

/* All functions of this file must run inside a write transaction. */

/** Reserves units. Returns 'again' if not all expired reservations could be dropped in this step. */
export function reserve(
  store: LmdbStore,
  request: ReserveRequest,
  nowMs: number,
): ReserveOutcome | 'again' {
  const opened = openPlaces(store, request, nowMs)
  if (opened === 'behind') return { kind: 'behind' }
  if (dropExpired(store, opened) === 'more') return 'again'
  return reserveOpened(store, request, opened, nowMs)
}

/** Reserves for each request. With 'all-or-none', drops what is new unless all are admitted. */
export function reserveBatch(
  store: LmdbStore,
  requests: readonly ReserveRequest[],
  mode: BatchMode,
  nowMs: number,
): readonly ReserveOutcome[] | 'behind' | 'again' {
  // Nothing is written before it is known that no request must wait.
  if (requests.some((each) => openPlaces(store, each, nowMs) === 'behind')) return 'behind'
  // Nothing is held before all that expired is dropped. A step that is repeated would take its own new reservations for known ones.
  // All requests are at the same places, so one with a second place has all of them.
  const widest = requests.find(({ together }) => together !== undefined) ?? requests[0]!
  if (dropExpired(store, reopenPlaces(store, widest, nowMs)) === 'more') return 'again'
  const outcomes: ReserveOutcome[] = []
  const added: ReserveRequest[] = []
  for (const request of requests) {
    const { at, reservationId } = request
    const isKnown = readReservation(store, reservationPlace(at), reservationId) !== undefined
    const opened = reopenPlaces(store, request, nowMs)
    const outcome = reserveOpened(store, request, opened, nowMs)
    outcomes.push(outcome)
    if (outcome.kind === 'admitted' && !isKnown) added.push(request)
  }
  if (mode === 'all-or-none' && outcomes.some(({ kind }) => kind !== 'admitted')) {
    for (const { at, together, reservationId } of added) {
      const places = together === undefined ? [at] : [at, together.at]
      release(store, places, reservationId, nowMs)
    }
  }
  return outcomes
}

/** Reserves at places without expired reservations. */
function reserveOpened(
  store: LmdbStore,
  request: ReserveRequest,
  opened: readonly OpenedPlace[],
  nowMs: number,
): ReserveOutcome {
  const { reservationId } = request
  const known = readReservation(store, opened[0]!.place, reservationId)
  if (known !== undefined) {
    const { units, expiresAtMs } = known
    return { kind: 'admitted', units, expiresAtMs, ...takenAt(opened) }
  }
  const decided = opened.map((each) => decide(store, each, reservationId))
  const refused = decided.find(({ kind }) => kind === 'full' || kind === 'denied')
  if (refused?.kind === 'full') return { kind: 'full' }
  if (refused !== undefined) return { kind: 'denied', ...takenAt(opened) }
  const expiresAtMs = nowMs + request.ttlMs
  decided.forEach((decision, index) => {
    if (decision.kind !== 'room') return
    const { units } = decision
    const bySeries = heldBySeries(opened[index]!.request, units)
    const reservation = { units, bySeries, expiresAtMs, isUsed: false, createdAtMs: nowMs }
    hold(store, opened[index]!, reservationId, reservation)
  })
  const [{ units }] = decided as [Extract<PlaceDecision, { kind: 'room' }>]
  return { kind: 'admitted', units, expiresAtMs, ...takenAt(opened) }
}

/** A place of the request, with its state at the start of the step. */
type OpenedPlace = {
  readonly request: PlaceRequest
  readonly place: ReservationPlace
  readonly record: PlaceRecord
  readonly used: bigint
  /** Usage under each further cap. */
  readonly usedFurther: readonly bigint[]
  /** Ids of expired reservations. */
  readonly expired: readonly string[]
}

function openPlaces(
  store: LmdbStore,
  request: ReserveRequest,
  nowMs: number,
): readonly OpenedPlace[] | 'behind' {
  const { together } = request
  const asked = together === undefined ? [request] : [request, together]
  const opened = asked.map((each) => openPlace(store, each, nowMs))
  return opened.every((each) => each !== 'behind') ? opened : 'behind'
}

/** Opens the places of a request that did not have to wait at the start of the step, after writes of the same step. */
function reopenPlaces(
  store: LmdbStore,
  request: ReserveRequest,
  nowMs: number,
): readonly OpenedPlace[] {
  const opened = openPlaces(store, request, nowMs)
  if (opened === 'behind') throw new Error('A step moved its own places on')
  return opened
}

/** Drops expired reservations. Returns 'more' if there may be more than one step drops. */
function dropExpired(store: LmdbStore, opened: readonly OpenedPlace[]): 'more' | 'none' {
  for (const { place, record, expired } of opened) dropAll(store, place, record, expired)
  return opened.some(({ expired }) => expired.length === expiredPerStepMax) ? 'more' : 'none'
}

function openPlace(store: LmdbStore, request: PlaceRequest, nowMs: number): OpenedPlace | 'behind' {
  const place = reservationPlace(request.at)
  const record = readPlace(store, place)
  if (isPublishedSince(store, place, request) || isReadBefore(record, request)) return 'behind'
  const expired = expiredReservations(store, place, nowMs, expiredPerStepMax)
  const isBehind = readPartitionHead(store, place.partition).fence < request.minOffset
  const isAwaited = () => !request.isReservedFirst || mayMissUsage(store, place, record, expired)
  if (isBehind && isAwaited()) return 'behind'
  const used = usedOf(store, place, { ...request, scope: request.at.scope })
  const usedFurther = furtherCapsOf(request).map((cap) => usedUnder(store, place, request, cap))
  return { request, place, record, used, usedFurther, expired }
}

function furtherCapsOf({ bySeries }: PlaceRequest): readonly FurtherCap[] {
  return bySeries?.furtherCaps ?? []
}

/** Returns the units by series of a request that holds them so. */
function heldBySeries(
  { series, bySeries }: PlaceRequest,
  units: bigint,
): ReadonlyMap<string, bigint> | undefined {
  return bySeries && new Map([[series, units], ...bySeries.furtherUnits])
}

type PlaceDecision =
  { readonly kind: 'known' | 'full' | 'denied' } | { readonly kind: 'room'; readonly units: bigint }

function decide(store: LmdbStore, opened: OpenedPlace, reservationId: string): PlaceDecision {
  const { request, place, record, used } = opened
  if (readReservation(store, place, reservationId) !== undefined) return { kind: 'known' }
  const isRecorded = request.isReservedFirst && isMarked(store, place.partition, reservationId)
  if (isRecorded) return { kind: 'denied' }
  const replaced = heldByReplaced(store, opened)
  const isDropped = replaced !== undefined && request.keepsRest !== true
  const keptTotal = record.keptTotal - (isDropped ? 1 : 0)
  if (keptTotal >= request.reservationsMax) return { kind: 'full' }
  const { cap, elsewhere, series } = request
  const reserved = reservedBesides(record, replaced, series)
  const units = unitsTaken(request, cap === null ? null : cap - used - elsewhere.amount - reserved)
  if (units === undefined || !hasRoomFurther(opened, replaced)) return { kind: 'denied' }
  return { kind: 'room', units }
}

function reservedBesides(
  record: PlaceRecord,
  replaced: Reservation | undefined,
  series: string,
): bigint {
  return reservedOn(record, series) - (replaced === undefined ? 0n : unitsOn(replaced, series))
}

function hasRoomFurther(
  { request, record, usedFurther }: OpenedPlace,
  replaced: Reservation | undefined,
): boolean {
  const held = heldBySeries(request, request.units)
  return furtherCapsOf(request).every(({ series, cap, elsewhere }, index) => {
    const units = held?.get(series) ?? 0n
    const reserved = reservedBesides(record, replaced, series)
    return units === 0n || usedFurther[index]! + elsewhere + reserved + units <= cap
  })
}

/** Returns the reservation that the request replaces, if it is still held. */
function heldByReplaced(
  store: LmdbStore,
  { request: { replaces }, place }: OpenedPlace,
): Reservation | undefined {
  if (replaces === undefined) return undefined
  const replaced = readReservation(store, place, replaces)
  return replaced?.isUsed === false ? replaced : undefined
}

function hold(
  store: LmdbStore,
  opened: OpenedPlace,
  reservationId: string,
  reservation: Reservation,
): void {
  const { request, place, record } = opened
  const replaced = heldByReplaced(store, opened)
  if (replaced !== undefined && request.keepsRest === true) {
    const { units, bySeries = new Map([[request.series, units]]) } = reservation
    reduce(store, place, record, request.replaces!, replaced, { onEvery: units, bySeries }, 'drop')
  } else if (replaced !== undefined) {
    drop(store, place, record, request.replaces!, replaced)
  }
  writeReservation(store, place, reservationId, reservation)
  addHeld(record, reservation, 1n)
  record.keptTotal += 1
  if (request.isReservedFirst) record.wholeAtOpening = readOpenings(store)
  writePlace(store, place, record, reservation.expiresAtMs)
}

function isMarked(store: LmdbStore, partition: Buffer, id: string): boolean {
  return readMarks(store, partition, [id])[0] !== undefined
}

/** Returns the units to hold, or undefined if there is too little room. A room of null is unlimited. */
function unitsTaken({ units, takes }: PlaceRequest, room: bigint | null): bigint | undefined {
  if (room === null || units <= room) return units
  return takes === 'rest' && room > 0n ? room : undefined
}

type TakenAtPlaces = { readonly taken: Taken; readonly takenTogether?: Taken }

function takenAt([first, second]: readonly OpenedPlace[]): TakenAtPlaces {
  const taken = takenOf(first!)
  return second === undefined ? { taken } : { taken, takenTogether: takenOf(second) }
}

function takenOf({ request, used, usedFurther, record }: OpenedPlace): Taken {
  const taken = { used, reserved: reservedOn(record, request.series) }
  if (request.bySeries === undefined) return taken
  const further = furtherCapsOf(request).map(({ series }, index) => {
    return { used: usedFurther[index]!, reserved: reservedOn(record, series) }
  })
  return { ...taken, further }
}

function isPublishedSince(
  store: LmdbStore,
  { partition, names }: ReservationPlace,
  { document }: PlaceRequest,
): boolean {
  const stored = store.getBinary(hotKey(keySpaces.entry, partition, names))
  return (stored && Buffer.from(stored).toString('utf8')) !== document
}

/** Returns whether another partition has counted usage of a reservation at this place since the request read that partition. */
function isReadBefore({ countedElsewhere }: PlaceRecord, { elsewhere }: PlaceRequest): boolean {
  for (const [partition, readAt] of elsewhere.appliedOffsets) {
    if (readAt < (countedElsewhere.get(partition) ?? 0)) return true
  }
  return false
}
