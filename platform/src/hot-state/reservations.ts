import { checkBucketForm, type BucketForm } from './buckets.ts'

/**
 * Reservations hold units of a subject and scope for a call that is about to be made, so that concurrent callers together are never
 * admitted beyond the cap. A reservation ends when its usage is counted, when it is released, or when it expires. Reservations are
 * not a source of truth: if hot state is lost, they are lost.
 *
 * The counters of a subject may be in more than one partition. A reservation is kept in one of them; the caller supplies the
 * amounts of the other partitions.
 */
export interface Reservations {
  /** Returns false if hot state was opened read-only, because reserving writes. */
  canReserve(): boolean

  /**
   * Reserves units in one atomic step if used + reserved + units <= cap. If an unexpired reservation with that id exists, returns
   * it instead, whatever the new request contains. Otherwise nothing else changes, except that expired reservations are dropped;
   * with the outcome 'behind' those stay too, except settled ones.
   *
   * With `bySeries`, the step reserves units of several series, only if each of several caps has room. They count against every
   * cap on their series until the reservation ends.
   *
   * With `together`, the step also reserves at a second place, with the same id and expiry: at both places or at neither. If the
   * first place knows the reservation, it is returned, and nothing more is held at the second place.
   */
  reserve(request: ReserveRequest): Promise<ReserveOutcome>

  /**
   * Makes several reservations in one atomic step, each as `reserve` does and after those before it. All requests must be
   * based on the same reading of the same places; some may have no second place. With 'all-or-none', the new ones are dropped again unless every request is admitted; the outcomes are those of the
   * attempt. Returns 'behind' if the first request is, and then reserves nothing.
   */
  reserveBatch(
    requests: readonly ReserveRequest[],
    mode: BatchMode,
  ): Promise<readonly ReserveOutcome[] | 'behind'>

  /**
   * Moves the expiry of a reservation to `ttlMs` from now, at both places if there are two, but never to an earlier time. Nothing
   * changes if it is no longer held ('gone'), or if the new expiry is more than `lifetimeMsMax` after its creation ('too-long').
   */
  extendReservation(extension: ReservationExtension): Promise<ExtendOutcome>

  /**
   * Releases the units; the id may then be used again. `together` names the second place of a reservation, which the same step
   * releases. Returns false if neither place holds the units.
   */
  releaseReservation(
    at: ReservationAddress,
    reservationId: string,
    together?: PlaceName,
  ): Promise<boolean>

  /**
   * Ends or reduces reservations whose usage was counted in another partition; usage counted in their own partition does so with its
   * batch. Between the count and this call both the usage and the reservation count against the cap. Reservations that are not held
   * are ignored. A repeated call changes nothing.
   */
  settleReservations(settlement: SettlementElsewhere): Promise<void>

  /**
   * Returns the document of a place and its used and reserved units, of the same moment, for a place where all usage is reserved
   * before it is recorded. Works on a read-only state, and returns synchronously if the state is local.
   *
   * Expired reservations do not count as reserved, but a read checks only the `expiredPerReadMax` that expired first. If there are
   * that many, their usage may be in transit, and any further ones count as reserved until the next reserving step or sweep drops
   * them. So the result may be too high but not too low, and the cost of a read is bounded.
   */
  readTaken(query: TakenQuery): TakenReading | Promise<TakenReading>
}

/** Address of a reservation: the address of the entry whose windows its counters use. */
export type ReservationAddress = {
  readonly space: string
  readonly partition: number
  readonly subject: string
  readonly scope: string
}

/** Subject and scope within a partition. */
export type PlaceName = Pick<ReservationAddress, 'subject' | 'scope'>

export type ReserveRequest = PlaceRequest & {
  readonly reservationId: string
  readonly ttlMs: number
  /** A second place in the same partition. */
  readonly together?: PlaceRequest
}

/** The part of a request for one place. */
export type PlaceRequest = {
  /** Address of the reservation. Its scope is also the scope of the counters. */
  readonly at: ReservationAddress
  /**
   * The document of the entry at that place as the caller has read it, because the request depends on it. Undefined if there is
   * none.
   */
  readonly document: string | undefined
  /**
   * Millionths of a unit: more than 0 and below 2^62. 0 for a place where the reservation is only remembered: it holds units at the
   * place of `together`, which is required then.
   */
  readonly units: bigint
  /** If there is room for fewer units: 'all' reserves none, 'rest' reserves what fits, if anything. */
  readonly takes: 'all' | 'rest'
  /**
   * Another reservation of the place that these units replace: the step drops it and counts its units as free. It stays if nothing
   * is reserved. A reservation that is no longer held is ignored.
   */
  readonly replaces?: string | undefined
  /** The replaced reservation keeps what these units leave of it, and is dropped only if that is nothing. */
  readonly keepsRest?: boolean | undefined
  /** Subjects whose counters in this partition count against the cap, for this window of this series, at the scope. */
  readonly subjects: readonly string[]
  readonly series: string
  readonly windowId: string
  /** The cap in millionths of a unit; null admits everything. */
  readonly cap: bigint | null
  /** Offset that the counters of this partition must have reached. */
  readonly minOffset: number
  /**
   * True if all usage that counts against the cap at this place is reserved before it is recorded. Usage that is not counted yet is
   * then still reserved, so the counters need not have reached `minOffset`, unless a reservation may be missing: an unsettled one
   * has expired, or none was made in this way since the place was swept or since the state may have lost its last writes. The id is
   * then the id of the record: if it has a mark, the record is already in the log, and the request is denied unless the reservation
   * is held.
   */
  readonly isReservedFirst: boolean
  readonly elsewhere: UsedElsewhere
  /**
   * Maximum reservations at the place, including those that were counted but have not expired. With 0, a reservation that is known is
   * found, and any other request is 'full'.
   */
  readonly reservationsMax: number
  /**
   * If set, the units are held on `series` only. Otherwise they count against the caps of every series of the place. Requires
   * `takes: 'all'`.
   */
  readonly bySeries?: HeldBySeries
}

export type HeldBySeries = {
  /** Units that are held on other series, in millionths: more than 0 and below 2^62. */
  readonly furtherUnits: ReadonlyMap<string, bigint>
  /** Caps beside that of `series`. A cap on a series of which the request holds nothing refuses nothing. */
  readonly furtherCaps: readonly FurtherCap[]
}

/** A cap on the usage of the request's subjects and scope in a window, or in buckets from one on. */
export type FurtherCap = {
  readonly series: string
  /** In millionths of a unit. */
  readonly cap: bigint
  readonly within:
    { readonly windowId: string } | { readonly form: BucketForm; readonly fromBucket: number }
  /** Usage in other partitions that counts against this cap, in millionths of a unit. */
  readonly elsewhere: bigint
}

export type UsedElsewhere = {
  /** Usage in other partitions that counts against the cap, in millionths of a unit. */
  readonly amount: bigint
  /**
   * Applied offset at which each other partition was read, for every other partition with counters of the customer. Usage that was
   * counted in any other partition is not the customer's, so it is ignored.
   */
  readonly appliedOffsets: ReadonlyMap<number, number>
}

/** Used and reserved units in the partition, including this reservation, in millionths. */
export type Taken = {
  readonly used: bigint
  readonly reserved: bigint
  /** The same for each further cap of the request, in their order. Absent without `bySeries`. */
  readonly further?: readonly Taken[]
}

export type ReserveOutcome =
  | {
      readonly kind: 'admitted'
      readonly units: bigint
      /** Expiry in Unix milliseconds, on the clock of hot state. */
      readonly expiresAtMs: number
      readonly taken: Taken
      /** The same for the second place, if there is one. */
      readonly takenTogether?: Taken
    }
  | { readonly kind: 'denied'; readonly taken: Taken; readonly takenTogether?: Taken }
  /**
   * The counters have not reached `minOffset`, or another partition has counted usage of a reservation of this place since it was
   * read, or another document was published. The caller must read again.
   */
  | { readonly kind: 'behind' }
  /** The place has too many reservations. */
  | { readonly kind: 'full' }

export type TakenQuery = {
  readonly at: ReservationAddress
  /** Series and window of the counter that is read, at the place itself. */
  readonly series: string
  readonly windowId: string
  /** Offset that the counters must have reached if a reservation may be missing, as in a request with `isReservedFirst`. */
  readonly minOffset: number
}

export type TakenReading =
  | {
      readonly kind: 'taken'
      /** Undefined if no entry is published for the place. */
      readonly document: string | undefined
      readonly taken: Taken
    }
  | { readonly kind: 'behind' }

export type SettledReservation = {
  readonly subject: string
  readonly scope: string
  readonly reservationId: string
  /** The reservation is dropped at once instead of being kept until its expiry, and its id may be used again. */
  readonly isForgotten?: boolean
  /** Only these units of the reservation were used, and it keeps the rest. It ends if nothing is left of it. */
  readonly part?: UsedPart | undefined
}

/** What one record used of a reservation, in millionths of a unit. More than the reservation holds uses it up. */
export type UsedPart = {
  /** Of a reservation that holds its units on every series. */
  readonly onEvery: bigint
  /** By series, of all other reservations. */
  readonly bySeries: ReadonlyMap<string, bigint>
  /** Offset of the record. Each record reduces a reservation only once, also if its partition is counted again. */
  readonly offset: number
  /** A second place in the same partition, where the reservation of the same id is dropped if this one is used up. */
  readonly together: PlaceName
}

export type BatchMode = 'each' | 'all-or-none'

export type ReservationExtension = {
  readonly at: ReservationAddress
  readonly reservationId: string
  readonly ttlMs: number
  readonly lifetimeMsMax: number
  readonly together?: PlaceName
}

export type ExtendOutcome =
  | { readonly kind: 'extended'; readonly expiresAtMs: number }
  | { readonly kind: 'gone' }
  /** `latestMs` is the latest expiry that the reservation may have. */
  | { readonly kind: 'too-long'; readonly latestMs: number }

/**
 * Returns the settled reservations with parts before ends. Within one step the order of both has no effect, but the note of another
 * partition's offset that ends leave would hide the parts of the same step.
 */
export function partsFirst(settled: readonly SettledReservation[]): readonly SettledReservation[] {
  const parts = settled.filter(({ part }) => part !== undefined)
  if (parts.length === 0) return settled
  return [...parts, ...settled.filter(({ part }) => part === undefined)]
}

export type SettlementElsewhere = {
  readonly space: string
  /** Partition of the reservations. */
  readonly partition: number
  readonly settled: readonly SettledReservation[]
  /** The partition that counts their usage, and the offset below which it does. */
  readonly countedIn: { readonly partition: number; readonly nextOffset: number }
}

/** Maximum expired reservations that one step drops. The next step drops the others. */
export const expiredPerStepMax = 1_000

/** Maximum number of series of one reservation at a place. */
export const heldSeriesMax = 32

/** Maximum number of further caps of a request at a place. */
export const furtherCapsMax = 64

/** Maximum number of requests of one batch. All of them are one step, during which nothing else happens. */
export const batchReservationsMax = 100

/** Maximum expired reservations that one read checks. Reads block other work and drop none of them. */
export const expiredPerReadMax = 100

export function checkReserveRequest(request: ReserveRequest): void {
  const { ttlMs, together } = request
  if (request.reservationId.startsWith(createdPrefix)) {
    throw new RangeError(`A reservation id begins with ${createdPrefix}: ${request.reservationId}`)
  }
  for (const place of together === undefined ? [request] : [request, together]) {
    if (place.units !== 0n || place !== request || together === undefined) checkUnits(place.units)
    if (place.bySeries !== undefined) checkBySeries(place, place.bySeries)
  }
  if (together !== undefined && !isSamePartition(request.at, together.at)) {
    throw new RangeError('Both places of a reservation must be in the same partition')
  }
  if (!Number.isSafeInteger(ttlMs) || ttlMs <= 0) throw new RangeError(`No time to hold: ${ttlMs}`)
}

/** Ids do not begin with it, because hot state keeps other data of a reservation under its id with this prefix. */
export const createdPrefix = '@'

export function checkReserveBatch(requests: readonly ReserveRequest[]): void {
  if (requests.length === 0 || requests.length > batchReservationsMax) {
    throw new RangeError(`A batch has 1 to ${batchReservationsMax} reservations`)
  }
  const [first] = requests
  const second = requests.find(({ together }) => together !== undefined)?.together
  for (const request of requests) {
    checkReserveRequest(request)
    if (!isSameRead(request, first) || !isSameRead(request.together ?? second, second)) {
      throw new RangeError('The reservations of a batch must be at the same places, as read once')
    }
  }
}

function isSameRead(one: PlaceRequest | undefined, other: PlaceRequest | undefined): boolean {
  if (one === undefined || other === undefined) return one === other
  const { at, document } = other
  return (
    isSamePartition(one.at, at) &&
    one.at.subject === at.subject &&
    one.at.scope === at.scope &&
    one.document === document
  )
}

function checkUnits(units: bigint): void {
  if (units <= 0n || units >= 2n ** 62n) throw new RangeError(`No amount to reserve: ${units}`)
}

function checkBySeries(
  { takes, series }: PlaceRequest,
  { furtherUnits, furtherCaps }: HeldBySeries,
): void {
  if (takes !== 'all') throw new RangeError('Units of several series are reserved all or none')
  if (furtherUnits.has(series)) throw new RangeError(`The units of ${series} are given twice`)
  if (furtherUnits.size >= heldSeriesMax) {
    throw new RangeError(`A reservation has at most ${heldSeriesMax} series`)
  }
  if (furtherCaps.length > furtherCapsMax) {
    throw new RangeError(`A reservation has at most ${furtherCapsMax} further caps`)
  }
  for (const units of furtherUnits.values()) checkUnits(units)
  for (const { within } of furtherCaps) {
    if ('windowId' in within) continue
    checkBucketForm(within.form)
    if (!Number.isSafeInteger(within.fromBucket)) {
      throw new RangeError(`No bucket: ${within.fromBucket}`)
    }
  }
}

function isSamePartition(one: ReservationAddress, other: ReservationAddress): boolean {
  return one.space === other.space && one.partition === other.partition
}
