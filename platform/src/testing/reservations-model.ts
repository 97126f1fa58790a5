import type {
  BatchMode,
  FurtherCap,
  PlaceRequest,
  ReserveOutcome,
  ReserveRequest,
  Taken,
  TakenQuery,
  TakenReading,
  UsedPart,
} from '../hot-state/reservations.ts'

type Kept = {
  units: bigint
  /** The units by series, if they are not held on every series. */
  bySeries: ReadonlyMap<string, bigint> | undefined
  isUsed: boolean
  isExpired: boolean
}
/** The state of a place from its first reservation until it is swept. */
type Place = {
  readonly kept: Map<string, Kept>
  /** Usage of reservations that other partitions have counted. */
  readonly countedElsewhere: CountedIn[]
  longestTtlMs: number
  isReservedFirst: boolean
}
type CountedIn = { readonly partition: number; readonly nextOffset: number }
type Named = {
  readonly subject: string
  readonly reservationId: string
  readonly isForgotten?: boolean
  readonly part?: UsedPart | undefined
}
type Outcome = Omit<Extract<ReserveOutcome, { kind: 'admitted' }>, 'expiresAtMs'> | ReserveOutcome

/**
 * A simple model of reservations that computes the reserved units from all reservations. It has one partition, scope and window, and
 * all usage is in the bucket `usageBucket`.
 */
export class ReservationsModel {
  fence = 0
  /** Documents by subject. */
  readonly documents = new Map<string, string>()
  /** Usage by subject and series. */
  readonly #used = new Map<string, bigint>()
  readonly #places = new Map<string, Place>()
  readonly #usageBucket: number

  constructor(usageBucket: number) {
    this.#usageBucket = usageBucket
  }

  reserve(request: ReserveRequest): Outcome {
    const { reservationId, together } = request
    const asked: readonly PlaceRequest[] = together === undefined ? [request] : [request, together]
    if (asked.some((each) => this.#isBehind(each))) return { kind: 'behind' }
    for (const { at } of asked) this.#dropExpired(at.subject)

    const taken = () => {
      const [first, second] = asked.map((each) => this.#takenOf(each))
      return { taken: first!, ...(second === undefined ? {} : { takenTogether: second }) }
    }
    const known = this.#places.get(request.at.subject)?.kept.get(reservationId)
    if (known !== undefined) return { kind: 'admitted', units: known.units, ...taken() }
    const decided = asked.map((each) => this.#decide(each, reservationId))
    const refused = decided.find((each) => each === 'full' || each === 'denied')
    if (refused === 'full') return { kind: 'full' }
    if (refused === 'denied') return { kind: 'denied', ...taken() }
    asked.forEach((each, index) => {
      const units = decided[index]
      if (typeof units === 'bigint') this.#keep(each, request, units)
    })
    return { kind: 'admitted', units: decided[0] as bigint, ...taken() }
  }

  reserveBatch(requests: readonly ReserveRequest[], mode: BatchMode): Outcome[] | 'behind' {
    const before = requests.map(({ at, together }) => [at.subject, together?.at.subject] as const)
    const outcomes: Outcome[] = []
    const added: [string, readonly (string | undefined)[]][] = []
    for (const [index, request] of requests.entries()) {
      const isKnown = this.isHeldOrUsed(request.at.subject, request.reservationId)
      const outcome = this.reserve(request)
      if (outcome.kind === 'behind') return 'behind'
      outcomes.push(outcome)
      if (outcome.kind === 'admitted' && !isKnown) {
        added.push([request.reservationId, before[index]!])
      }
    }
    if (mode === 'each' || outcomes.every(({ kind }) => kind === 'admitted')) return outcomes
    for (const [id, subjects] of added) {
      for (const subject of subjects) if (subject !== undefined) this.#release(subject, id)
    }
    return outcomes
  }

  /** Returns whether a reservation whose expiry may be moved is held. */
  isHeld(subject: string, reservationId: string): boolean {
    const kept = this.#places.get(subject)?.kept.get(reservationId)
    return kept !== undefined && !kept.isUsed && !kept.isExpired
  }

  /** Notes the lifetime of an extended reservation at each place that holds it, for the sweep. */
  extend(subjects: readonly string[], reservationId: string, ttlMs: number): void {
    for (const subject of subjects) {
      const place = this.#places.get(subject)
      const kept = place?.kept.get(reservationId)
      if (place === undefined || kept === undefined || kept.isUsed) continue
      kept.isExpired = false
      place.longestTtlMs = Math.max(place.longestTtlMs, ttlMs)
    }
  }

  /** Checks all expired reservations, which are fewer here than a read checks. */
  readTaken({ at: { subject }, minOffset, series }: TakenQuery): TakenReading {
    if (this.fence < minOffset && this.#mayMissUsage(subject)) return { kind: 'behind' }
    const taken = this.#takenOn([subject], subject, series)
    return { kind: 'taken', document: this.documents.get(subject), taken }
  }

  isHeldOrUsed(subject: string, reservationId: string): boolean {
    return this.#places.get(subject)?.kept.get(reservationId)?.isExpired === false
  }

  expire(subject: string, reservationId: string): void {
    const kept = this.#places.get(subject)?.kept.get(reservationId)
    if (kept !== undefined) kept.isExpired = true
  }

  release(subjects: readonly string[], reservationId: string): boolean {
    return subjects.map((subject) => this.#release(subject, reservationId)).includes(true)
  }

  #release(subject: string, reservationId: string): boolean {
    const place = this.#places.get(subject)
    const known = place?.kept.get(reservationId)
    if (place === undefined || known === undefined || known.isUsed || known.isExpired) return false
    return place.kept.delete(reservationId)
  }

  apply(
    expectedOffset: number,
    { subject, series, amount }: { subject: string; series: string; amount: bigint },
    settled: readonly Named[],
  ): 'applied' | 'fenced' {
    if (expectedOffset !== this.fence) return 'fenced'
    this.fence += 1
    const name = nameOf(subject, series)
    this.#used.set(name, (this.#used.get(name) ?? 0n) + amount)
    for (const each of partsFirst(settled)) this.#settle(each)
    return 'applied'
  }

  settleElsewhere(settled: readonly Named[], countedIn: CountedIn): void {
    const noted = (each: Named, nextOffset: number) => {
      const notes = this.#places.get(each.subject)?.countedElsewhere
      return notes?.some(
        (note) => note.partition === countedIn.partition && note.nextOffset > nextOffset,
      )
    }
    for (const each of partsFirst(settled)) {
      const { part } = each
      if (part !== undefined && noted(each, part.offset) === true) continue
      const nextOffset = part === undefined ? countedIn.nextOffset : part.offset + 1
      if (this.#settle(each)) {
        const { partition } = countedIn
        this.#places.get(each.subject)?.countedElsewhere.push({ partition, nextOffset })
      }
    }
  }

  /** Sweeps places whose reservations all had a shorter lifetime. */
  sweep(ttlBelowMs: number): void {
    for (const [subject, { longestTtlMs }] of this.#places) {
      if (longestTtlMs < ttlBelowMs) this.#places.delete(subject)
    }
  }

  lose(): void {
    this.fence = 0
    for (const all of [this.documents, this.#used, this.#places]) all.clear()
  }

  #isBehind(request: PlaceRequest): boolean {
    if (this.documents.get(request.at.subject) !== request.document) return true
    if (this.#isReadBefore(request)) return true
    const isAwaited = !request.isReservedFirst || this.#mayMissUsage(request.at.subject)
    return isAwaited && this.fence < request.minOffset
  }

  #dropExpired(subject: string): void {
    const kept = this.#places.get(subject)?.kept ?? new Map<string, Kept>()
    for (const [id, { isExpired }] of kept) if (isExpired) kept.delete(id)
  }

  #takenOf({ at, subjects, series, bySeries }: PlaceRequest): Taken {
    const taken = this.#takenOn(subjects, at.subject, series)
    if (bySeries === undefined) return taken
    const further = bySeries.furtherCaps.map((cap) => this.#takenUnder(cap, subjects, at.subject))
    return { ...taken, further }
  }

  #takenUnder({ series, within }: FurtherCap, subjects: readonly string[], at: string): Taken {
    const hasUsage = 'windowId' in within || within.fromBucket <= this.#usageBucket
    const taken = this.#takenOn(subjects, at, series)
    return hasUsage ? taken : { ...taken, used: 0n }
  }

  #takenOn(subjects: readonly string[], at: string, series: string): Taken {
    return { used: this.#usedBy(subjects, series), reserved: this.#reserved(at, series) }
  }

  /** Decides the units to reserve at one place. */
  #decide(request: PlaceRequest, reservationId: string): bigint | 'known' | 'full' | 'denied' {
    const kept = this.#places.get(request.at.subject)?.kept ?? new Map<string, Kept>()
    if (kept.has(reservationId)) return 'known'
    const replaced = heldIn(kept, request.replaces)
    const keptTotal = kept.size - (replaced === undefined || request.keepsRest ? 0 : 1)
    if (keptTotal >= request.reservationsMax) return 'full'
    const { used, reserved, further = [] } = this.#takenOf(request)
    const { cap, elsewhere, series, bySeries } = request
    const free = unitsOn(replaced, series) - used - elsewhere.amount - reserved
    const units = unitsOf(request, cap === null ? null : cap + free)
    const isBlocked = further.some((taken, index) => {
      const { series: of, cap: most, elsewhere: others } = bySeries!.furtherCaps[index]!
      const held = of === series ? units : (bySeries!.furtherUnits.get(of) ?? 0n)
      const total = taken.used + others + taken.reserved - unitsOn(replaced, of) + held
      return held > 0n && total > most
    })
    return (units > 0n || request.units === 0n) && !isBlocked ? units : 'denied'
  }

  #keep(
    {
      at: { subject },
      isReservedFirst,
      replaces,
      keepsRest = false,
      series,
      bySeries,
    }: PlaceRequest,
    { reservationId, ttlMs }: ReserveRequest,
    units: bigint,
  ): void {
    const place = this.#places.get(subject) ?? {
      kept: new Map<string, Kept>(),
      countedElsewhere: [],
      longestTtlMs: 0,
      isReservedFirst: false,
    }
    this.#places.set(subject, place)
    place.longestTtlMs = Math.max(place.longestTtlMs, ttlMs)
    place.isReservedFirst ||= isReservedFirst
    const held = bySeries && new Map([[series, units], ...bySeries.furtherUnits])
    const replaced = heldIn(place.kept, replaces)
    if (replaced !== undefined) {
      const used = { onEvery: units, bySeries: held ?? new Map([[series, units]]) }
      const isUsedUp = keepsRest && subtract(replaced, used)
      if (!keepsRest || isUsedUp) place.kept.delete(replaces!)
    }
    place.kept.set(reservationId, { units, bySeries: held, isUsed: false, isExpired: false })
  }

  #isReadBefore({ at, elsewhere }: PlaceRequest): boolean {
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

  /** Settles a reservation. Returns whether it was held until now. An expired one is no longer missed. */
  #settle({ subject, reservationId, isForgotten = false, part }: Named): boolean {
    const kept = this.#places.get(subject)?.kept
    const known = kept?.get(reservationId)
    if (kept === undefined || known === undefined || known.isUsed) return false
    if (part !== undefined) {
      if (subtract(known, part)) {
        known.isUsed = true
        this.#release(part.together.subject, reservationId)
      }
      return !known.isExpired
    }
    known.isUsed = true
    if (known.isExpired || isForgotten) kept.delete(reservationId)
    return !known.isExpired
  }

  /** Returns the used units; a window has none before its entry is published. */
  #usedBy(subjects: readonly string[], series: string): bigint {
    const published = subjects.filter((subject) => this.documents.has(subject))
    const amounts = published.map((subject) => this.#used.get(nameOf(subject, series)) ?? 0n)
    return amounts.reduce((sum, amount) => sum + amount, 0n)
  }

  #reserved(subject: string, series: string): bigint {
    const held = [...(this.#places.get(subject)?.kept.values() ?? [])].filter(
      ({ isUsed, isExpired }) => !isUsed && !isExpired,
    )
    return held.reduce((sum, each) => sum + unitsOn(each, series), 0n)
  }
}

/** Parts are subtracted before the reservations of the same batch end. */
function partsFirst(settled: readonly Named[]): readonly Named[] {
  const parts = settled.filter(({ part }) => part !== undefined)
  return [...parts, ...settled.filter(({ part }) => part === undefined)]
}

function nameOf(subject: string, series: string): string {
  return JSON.stringify([subject, series])
}

function unitsOn(kept: Kept | undefined, series: string): bigint {
  if (kept?.bySeries === undefined) return kept?.units ?? 0n
  return kept.bySeries.get(series) ?? 0n
}

function heldIn(kept: ReadonlyMap<string, Kept>, id: string | undefined): Kept | undefined {
  const known = id === undefined ? undefined : kept.get(id)
  return known?.isUsed === false ? known : undefined
}

/** Subtracts used units. Returns whether something was held and nothing is left; then the units stay as they were. */
function subtract(
  kept: Kept,
  { onEvery, bySeries }: Pick<UsedPart, 'onEvery' | 'bySeries'>,
): boolean {
  const left = (held: bigint, used: bigint) => (used >= held ? 0n : held - used)
  const rest = new Map(
    [...(kept.bySeries ?? [])].map(([name, held]) => [name, left(held, bySeries.get(name) ?? 0n)]),
  )
  const before = [...(kept.bySeries?.values() ?? [kept.units])]
  const after = kept.bySeries === undefined ? [left(kept.units, onEvery)] : [...rest.values()]
  if (before.every((amount) => amount === 0n)) return false
  if (after.every((amount) => amount === 0n)) return true
  kept.units = after[0]!
  if (kept.bySeries !== undefined) kept.bySeries = rest
  return false
}

/** Returns the units to hold; 0 or less means none. */
function unitsOf({ units, takes }: PlaceRequest, room: bigint | null): bigint {
  if (room === null || room >= units) return units
  return takes === 'rest' ? room : 0n
}
