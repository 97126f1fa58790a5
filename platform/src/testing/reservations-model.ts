import type {
  ReserveOutcome,
  ReserveRequest,
  Taken,
  TakenQuery,
  TakenReading,
} from '../hot-state/reservations.ts'

type Kept = { readonly units: bigint; isUsed: boolean; isExpired: boolean }
/** What is known of a place since its first reservation, until it is swept. */
type Place = {
  readonly kept: Map<string, Kept>
  /** Every usage of a reservation that another partition has counted. */
  readonly countedElsewhere: CountedIn[]
  longestTtlMs: number
  isReservedFirst: boolean
}
type CountedIn = { readonly partition: number; readonly nextOffset: number }
type Named = {
  readonly subject: string
  readonly reservationId: string
  readonly isForgotten?: boolean
}
type Outcome = Omit<Extract<ReserveOutcome, { kind: 'admitted' }>, 'expiresAtMs'> | ReserveOutcome

/** Reservations in the plainest way: what is reserved is found by looking at all. One partition, scope and window. */
export class ReservationsModel {
  fence = 0
  /** By subject. */
  readonly documents = new Map<string, string>()
  readonly #used = new Map<string, bigint>()
  readonly #places = new Map<string, Place>()

  reserve(request: ReserveRequest): Outcome {
    const { at, reservationId, cap, elsewhere } = request
    if (this.documents.get(at.subject) !== request.document) return { kind: 'behind' }
    if (this.#isReadBefore(request)) return { kind: 'behind' }
    const isAwaited = !request.isReservedFirst || this.#mayMissUsage(at.subject)
    if (isAwaited && this.fence < request.minOffset) return { kind: 'behind' }
    const kept = this.#places.get(at.subject)?.kept ?? new Map<string, Kept>()
    for (const [id, { isExpired }] of kept) if (isExpired) kept.delete(id)

    const used = this.#usedBy(request.subjects)
    const taken = (): Taken => ({ used, reserved: this.#reserved(at.subject) })
    const known = kept.get(reservationId)
    if (known !== undefined) return { kind: 'admitted', units: known.units, taken: taken() }
    if (kept.size >= request.reservationsMax) return { kind: 'full' }
    const room = cap === null ? null : cap - used - elsewhere.amount - taken().reserved
    const units = unitsOf(request, room)
    if (units <= 0n) return { kind: 'denied', taken: taken() }
    this.#keep(request, units)
    return { kind: 'admitted', units, taken: taken() }
  }

  /** Looks at all that has expired, which are fewer here than a read looks at. */
  readTaken({ at: { subject }, minOffset }: TakenQuery): TakenReading {
    if (this.fence < minOffset && this.#mayMissUsage(subject)) return { kind: 'behind' }
    const taken = { used: this.#usedBy([subject]), reserved: this.#reserved(subject) }
    return { kind: 'taken', document: this.documents.get(subject), taken }
  }

  isHeldOrUsed(subject: string, reservationId: string): boolean {
    return this.#places.get(subject)?.kept.get(reservationId)?.isExpired === false
  }

  expire(subject: string, reservationId: string): void {
    const kept = this.#places.get(subject)?.kept.get(reservationId)
    if (kept !== undefined) kept.isExpired = true
  }

  release(subject: string, reservationId: string): boolean {
    const place = this.#places.get(subject)
    const known = place?.kept.get(reservationId)
    if (place === undefined || known === undefined || known.isUsed || known.isExpired) return false
    return place.kept.delete(reservationId)
  }

  apply(
    expectedOffset: number,
    subject: string,
    amount: bigint,
    settled: readonly Named[],
  ): 'applied' | 'fenced' {
    if (expectedOffset !== this.fence) return 'fenced'
    this.fence += 1
    this.#used.set(subject, (this.#used.get(subject) ?? 0n) + amount)
    for (const each of settled) this.#settle(each)
    return 'applied'
  }

  settleElsewhere(settled: readonly Named[], countedIn: CountedIn): void {
    for (const each of settled) {
      if (this.#settle(each)) this.#places.get(each.subject)?.countedElsewhere.push(countedIn)
    }
  }

  /** Those places whose reservations were all made for less time. */
  sweep(ttlBelowMs: number): void {
    for (const [subject, { longestTtlMs }] of this.#places) {
      if (longestTtlMs < ttlBelowMs) this.#places.delete(subject)
    }
  }

  lose(): void {
    this.fence = 0
    for (const all of [this.documents, this.#used, this.#places]) all.clear()
  }

  #keep(request: ReserveRequest, units: bigint): void {
    const {
      at: { subject },
      reservationId,
      ttlMs,
      isReservedFirst,
    } = request
    const place = this.#places.get(subject) ?? {
      kept: new Map<string, Kept>(),
      countedElsewhere: [],
      longestTtlMs: 0,
      isReservedFirst: false,
    }
    this.#places.set(subject, place)
    place.longestTtlMs = Math.max(place.longestTtlMs, ttlMs)
    place.isReservedFirst ||= isReservedFirst
    place.kept.set(reservationId, { units, isUsed: false, isExpired: false })
  }

  #isReadBefore({ at, elsewhere }: ReserveRequest): boolean {
    const counted = this.#places.get(at.subject)?.countedElsewhere ?? []
    return counted.some(({ partition, nextOffset }) => {
      const readAt = elsewhere.appliedOffsets.get(partition)
      return readAt !== undefined && readAt < nextOffset
    })
  }

  #mayMissUsage(subject: string): boolean {
    const place = this.#places.get(subject)
    if (place?.isReservedFirst !== true) return true
    return [...place.kept.values()].some(({ isExpired, isUsed }) => isExpired && !isUsed)
  }

  /** Whether it was held until now. One that has expired is not missed any more. */
  #settle({ subject, reservationId, isForgotten = false }: Named): boolean {
    const kept = this.#places.get(subject)?.kept
    const known = kept?.get(reservationId)
    if (kept === undefined || known === undefined || known.isUsed) return false
    known.isUsed = true
    if (known.isExpired || isForgotten) kept.delete(reservationId)
    return !known.isExpired
  }

  /** Nothing is in a window before the entry is published that has it. */
  #usedBy(subjects: readonly string[]): bigint {
    const published = subjects.filter((subject) => this.documents.has(subject))
    return published.reduce((sum, subject) => sum + (this.#used.get(subject) ?? 0n), 0n)
  }

  #reserved(subject: string): bigint {
    const held = [...(this.#places.get(subject)?.kept.values() ?? [])].filter(
      ({ isUsed, isExpired }) => !isUsed && !isExpired,
    )
    return held.reduce((sum, { units }) => sum + units, 0n)
  }
}

/** None: nothing, or less. */
function unitsOf({ units, takes }: ReserveRequest, room: bigint | null): bigint {
  if (room === null || room >= units) return units
  return takes === 'rest' ? room : 0n
}
