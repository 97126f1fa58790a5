import type { ReserveOutcome, ReserveRequest } from '../hot-state/reservations.ts'

type Kept = { readonly units: bigint; isUsed: boolean }
type Named = readonly (readonly [subject: string, reservationId: string])[]
type CountedElsewhere = {
  readonly subject: string
  readonly partition: number
  readonly nextOffset: number
}
type Outcome = Omit<Extract<ReserveOutcome, { kind: 'admitted' }>, 'expiresAtMs'> | ReserveOutcome

/** Reservations in the plainest way: what is reserved is found by looking at all. One partition, scope and window. */
export class ReservationsModel {
  fence = 0
  /** By subject. */
  readonly documents = new Map<string, string>()
  readonly #used = new Map<string, bigint>()
  readonly #kept = new Map<string, Map<string, Kept>>()
  /** Every usage of a reservation that another partition has counted. */
  readonly #countedElsewhere: CountedElsewhere[] = []

  isKnown(subject: string, reservationId: string): boolean {
    return this.#keptOf(subject).has(reservationId)
  }

  reserve(request: ReserveRequest): Outcome {
    const { at, reservationId, units, cap, elsewhere } = request
    if (this.fence < request.minOffset) return { kind: 'behind' }
    if (this.documents.get(at.subject) !== request.document) return { kind: 'behind' }
    if (this.#isReadBefore(request)) return { kind: 'behind' }
    const kept = this.#keptOf(at.subject)
    const used = request.subjects.reduce((sum, each) => sum + (this.#used.get(each) ?? 0n), 0n)
    const taken = () => ({ used, reserved: this.#reserved(at.subject) })
    const known = kept.get(reservationId)
    if (known !== undefined) return { kind: 'admitted', units: known.units, taken: taken() }
    if (kept.size >= request.reservationsMax) return { kind: 'full' }
    const total = used + elsewhere.amount + this.#reserved(at.subject) + units
    if (cap !== null && total > cap) return { kind: 'denied', taken: taken() }
    kept.set(reservationId, { units, isUsed: false })
    return { kind: 'admitted', units, taken: taken() }
  }

  expire(subject: string, reservationId: string): void {
    this.#keptOf(subject).delete(reservationId)
  }

  release(subject: string, reservationId: string): boolean {
    const known = this.#keptOf(subject).get(reservationId)
    if (known === undefined || known.isUsed) return false
    return this.#keptOf(subject).delete(reservationId)
  }

  apply(
    expectedOffset: number,
    subject: string,
    amount: bigint,
    settled: Named,
  ): 'applied' | 'fenced' {
    if (expectedOffset !== this.fence) return 'fenced'
    this.fence += 1
    this.#used.set(subject, (this.#used.get(subject) ?? 0n) + amount)
    for (const each of settled) this.#settle(...each)
    return 'applied'
  }

  settleElsewhere(
    settled: Named,
    countedIn: { readonly partition: number; readonly nextOffset: number },
  ): void {
    for (const [subject, reservationId] of settled) {
      if (!this.#settle(subject, reservationId)) continue
      this.#countedElsewhere.push({ subject, ...countedIn })
    }
  }

  #isReadBefore({ at, elsewhere }: ReserveRequest): boolean {
    return this.#countedElsewhere.some(({ subject, partition, nextOffset }) => {
      const readAt = elsewhere.appliedOffsets.get(partition)
      return subject === at.subject && readAt !== undefined && readAt < nextOffset
    })
  }

  #settle(subject: string, reservationId: string): boolean {
    const known = this.#keptOf(subject).get(reservationId)
    if (known === undefined || known.isUsed) return false
    known.isUsed = true
    return true
  }

  #reserved(subject: string): bigint {
    let reserved = 0n
    for (const { units, isUsed } of this.#keptOf(subject).values()) if (!isUsed) reserved += units
    return reserved
  }

  #keptOf(subject: string): Map<string, Kept> {
    let kept = this.#kept.get(subject)
    if (kept === undefined) this.#kept.set(subject, (kept = new Map<string, Kept>()))
    return kept
  }
}
