/**
 * Reservations hold units of a subject and scope for a call that is about to be made, so that of many callers who ask
 * at once no more are admitted than the cap has room for. A reservation ends when the usage it was made for is counted,
 * when it is released, or when its time is over. It is nobody's truth: a HotState that is lost takes all with it.
 *
 * The counters of a subject may be in more than one partition. A reservation is kept in one of them, and what the other
 * partitions have counted is brought along by the caller.
 */
export interface Reservations {
  /** False where HotState was opened for reading alone: it would have to write. */
  canReserve(): boolean

  /**
   * Reserves in one atomic step if there is room: used + reserved + units <= cap. A reservation of that id that has not
   * expired is told of instead, whatever was asked for this time. Refused or not, nothing else changes, but that what
   * has expired is dropped; 'behind', that stays too, but for what was settled.
   *
   * With `together`, the step reserves at a second place too, under the same id and until the same time: at both places
   * or at neither. A reservation that the first place knows is told of, and then the second place holds nothing more.
   */
  reserve(request: ReserveRequest): Promise<ReserveOutcome>

  /**
   * Gives the units back, and the id may be used again. `together` names the second place of a reservation; one step
   * releases both. False when neither place held the units (any more).
   */
  releaseReservation(
    at: ReservationAddress,
    reservationId: string,
    together?: PlaceName,
  ): Promise<boolean>

  /**
   * Ends reservations whose usage was counted in another partition; what was counted in their own goes with its batch.
   * Between that count and this call both the usage and the reservation are held against the cap. Those that are not
   * held are passed over.
   */
  settleReservations(settlement: SettlementElsewhere): Promise<void>

  /**
   * The document of a place and what is taken there, as of one moment, where everything is reserved before it is
   * recorded. Needs not be able to reserve, and answers at once where the state is at hand.
   *
   * What has expired is not told as reserved any more, but a read looks only at the `expiredPerReadMax` that expired
   * first. Where so many have, it is taken that usage of them may be on its way, and any more of them are told as reserved
   * until the next step that reserves drops them, or a sweep: rather too much is told as taken than too little, and a
   * read costs no more however much is kept.
   */
  readTaken(query: TakenQuery): TakenReading | Promise<TakenReading>
}

/** That of the entry whose windows its counters are kept by. */
export type ReservationAddress = {
  readonly space: string
  readonly partition: number
  readonly subject: string
  readonly scope: string
}

/** A place within a partition. */
export type PlaceName = Pick<ReservationAddress, 'subject' | 'scope'>

export type ReserveRequest = PlaceRequest & {
  readonly reservationId: string
  readonly ttlMs: number
  /** A second place of the same partition. */
  readonly together?: PlaceRequest
}

/** What is reserved at one place. */
export type PlaceRequest = {
  /** Where the reservation is kept. Its scope is also that of the counters. */
  readonly at: ReservationAddress
  /** That of the entry `at` that place, as the caller has read it: what it asks for follows from it. Undefined: none. */
  readonly document: string | undefined
  /** 10^-6 units: more than nothing and below 2^62. */
  readonly units: bigint
  /** Where there is room for less than these units: 'all' takes none of them, 'rest' what there is room for, if any. */
  readonly takes: 'all' | 'rest'
  /**
   * Another reservation of the place, which these units replace: the step drops it and counts its units as room. It stays
   * if nothing is reserved, and a reservation that is not held any more is passed over.
   */
  readonly replaces?: string | undefined
  /** Whose counters in this partition are held against the cap: this window of this series, at the scope. */
  readonly subjects: readonly string[]
  readonly series: string
  readonly windowId: string
  /** 10^-6 units; null: everything is admitted. */
  readonly cap: bigint | null
  /** How far the counters of this partition must have come. */
  readonly minOffset: number
  /**
   * True: whatever counts against the cap here was reserved at this place before it was recorded. What the counters do
   * not have yet is then reserved still, and they need not have come as far as `minOffset`, but where a reservation may
   * be missing: some has expired that was not settled, or nothing was reserved in this way at the place since it was
   * swept, or since the state may have lost what was written last. The id is the record's own: where it has a mark, the
   * record is in the log already and nothing is reserved for it any more: it is denied, if it is not held.
   */
  readonly isReservedFirst: boolean
  readonly elsewhere: UsedElsewhere
  /** Reservations that may be kept there at a time, those included whose usage was counted before they expired. */
  readonly reservationsMax: number
}

export type UsedElsewhere = {
  /** What counts against the cap in other partitions, 10^-6 units. */
  readonly amount: bigint
  /**
   * By partition, the applied offset at which that was read: of every other partition that has counters of the
   * customer. Usage of a reservation that was counted in any other is not the customer's, so it is not waited for.
   */
  readonly appliedOffsets: ReadonlyMap<number, number>
}

/** What of the cap is taken in the partition: used, and reserved, with what was reserved now. 10^-6 units. */
export type Taken = {
  readonly used: bigint
  readonly reserved: bigint
}

export type ReserveOutcome =
  | {
      readonly kind: 'admitted'
      readonly units: bigint
      /** Unix milliseconds on HotState's own clock. */
      readonly expiresAtMs: number
      readonly taken: Taken
      /** The same of the second place, if there is one. */
      readonly takenTogether?: Taken
    }
  | { readonly kind: 'denied'; readonly taken: Taken; readonly takenTogether?: Taken }
  /**
   * The counters here have not come as far as they must, or one of the partitions that were read has since counted
   * usage of a reservation that was kept here, or another document has been published. Read again.
   */
  | { readonly kind: 'behind' }
  /** Too many are kept there. */
  | { readonly kind: 'full' }

export type TakenQuery = {
  readonly at: ReservationAddress
  /** Whose counter is read: that of this window of this series, of the place itself. */
  readonly series: string
  readonly windowId: string
  /** How far the counters must have come where a reservation may be missing, as of a request that is reserved first. */
  readonly minOffset: number
}

export type TakenReading =
  | {
      readonly kind: 'taken'
      /** Undefined when no entry is published for the place. */
      readonly document: string | undefined
      readonly taken: Taken
    }
  | { readonly kind: 'behind' }

export type SettledReservation = {
  readonly subject: string
  readonly scope: string
  readonly reservationId: string
  /** It is dropped at once, instead of being told of until it expires, and its id may be used again. */
  readonly isForgotten?: boolean
}

export type SettlementElsewhere = {
  readonly space: string
  /** Where the reservations are kept. */
  readonly partition: number
  readonly settled: readonly SettledReservation[]
  /** Where their usage is counted: in this partition, below this offset. */
  readonly countedIn: { readonly partition: number; readonly nextOffset: number }
}

/** Expired reservations that one step drops. Those that are left are dropped by the next one. */
export const expiredPerStepMax = 1_000

/** Expired reservations that one read looks at. Nothing else is answered meanwhile, and reads drop none of them. */
export const expiredPerReadMax = 100

export function checkReserveRequest(request: ReserveRequest): void {
  const { ttlMs, together } = request
  for (const { units } of together === undefined ? [request] : [request, together]) {
    if (units <= 0n || units >= 2n ** 62n) throw new RangeError(`No amount to reserve: ${units}`)
  }
  if (together !== undefined && !isSamePartition(request.at, together.at)) {
    throw new RangeError('Both places of a reservation must be in the same partition')
  }
  if (!Number.isSafeInteger(ttlMs) || ttlMs <= 0) throw new RangeError(`No time to hold: ${ttlMs}`)
}

function isSamePartition(one: ReservationAddress, other: ReservationAddress): boolean {
  return one.space === other.space && one.partition === other.partition
}
