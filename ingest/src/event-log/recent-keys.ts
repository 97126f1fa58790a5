/** Offset by id, oldest first. */
type Offsets = Map<string, number>

/**
 * The ids of keyed records that are in the log but whose marks the counters projection has not set yet. Between the
 * ack and the mark nothing else knows that a key was used. Forgetting one early is harmless to the sums, since both
 * projections count the first offset of an id only; the retry is then merely answered as if it were new.
 */
export class RecentKeys {
  readonly #idsMax: number
  readonly #partitions = new Map<string, Offsets>()
  #size = 0

  constructor(idsMax: number) {
    this.#idsMax = idsMax
  }

  get size(): number {
    return this.#size
  }

  has(environment: string, partition: number, id: string): boolean {
    return this.#partitions.get(`${environment}/${partition}`)?.has(id) ?? false
  }

  add(environment: string, partition: number, id: string, offset: number): void {
    const offsets = this.#offsetsOf(environment, partition)
    if (offsets.has(id)) return
    if (this.#size >= this.#idsMax) this.#forgetOldest(offsets)
    offsets.set(id, offset)
    this.#size += 1
  }

  /** The projection has set the marks of everything below `appliedOffset`. */
  forgetApplied(environment: string, partition: number, appliedOffset: number): void {
    const offsets = this.#offsetsOf(environment, partition)
    // Ids were added in about the order of their offsets, so the first one that must stay ends the search.
    for (const [id, offset] of offsets) {
      if (offset >= appliedOffset) return
      offsets.delete(id)
      this.#size -= 1
    }
  }

  #forgetOldest(preferred: Offsets): void {
    const offsets = preferred.size > 0 ? preferred : this.#anyOccupied()
    const oldest = offsets?.keys().next()
    if (offsets === undefined || oldest === undefined || oldest.done === true) return
    offsets.delete(oldest.value)
    this.#size -= 1
  }

  #anyOccupied(): Offsets | undefined {
    for (const offsets of this.#partitions.values()) if (offsets.size > 0) return offsets
    return undefined
  }

  #offsetsOf(environment: string, partition: number): Offsets {
    const place = `${environment}/${partition}`
    let offsets = this.#partitions.get(place)
    if (offsets === undefined) {
      offsets = new Map()
      this.#partitions.set(place, offsets)
    }
    return offsets
  }
}
