/**
 * The ids of keyed records that are in the log but whose marks the counters projection has not set yet. Between the
 * ack and the mark nothing else knows that a key was used. Forgetting one early is harmless to the sums, since both
 * projections count the first offset of an id only; the retry is then merely answered as if it were new.
 */
export class RecentKeys {
  readonly #idsMax: number
  readonly #partitions = new Map<string, Partition>()
  #size = 0

  constructor(idsMax: number) {
    this.#idsMax = idsMax
  }

  get size(): number {
    return this.#size
  }

  has(environment: string, partition: number, id: string): boolean {
    return this.#partitions.get(`${environment}/${partition}`)?.offsets.has(id) ?? false
  }

  add(environment: string, partition: number, id: string, offset: number): void {
    const place = this.#partition(environment, partition)
    if (place.offsets.has(id)) return
    if (this.#size >= this.#idsMax) this.#forgetOldest(place)
    place.offsets.set(id, offset)
    this.#size += 1
  }

  /** The partitions that something is remembered of. */
  occupied(): { readonly environment: string; readonly partition: number }[] {
    return [...this.#partitions.values()].filter(({ offsets }) => offsets.size > 0)
  }

  /** The projection has set the marks of everything below `appliedOffset`. */
  forgetApplied(environment: string, partition: number, appliedOffset: number): void {
    const { offsets } = this.#partition(environment, partition)
    // Ids were added in about the order of their offsets, so the first one that must stay ends the search.
    for (const [id, offset] of offsets) {
      if (offset >= appliedOffset) return
      offsets.delete(id)
      this.#size -= 1
    }
  }

  #forgetOldest(preferred: Partition): void {
    const from = preferred.offsets.size > 0 ? preferred : this.#anyOccupied()
    const oldest = from?.offsets.keys().next().value
    if (from === undefined || oldest === undefined) return
    from.offsets.delete(oldest)
    this.#size -= 1
  }

  #anyOccupied(): Partition | undefined {
    for (const place of this.#partitions.values()) if (place.offsets.size > 0) return place
    return undefined
  }

  #partition(environment: string, partition: number): Partition {
    const key = `${environment}/${partition}`
    let place = this.#partitions.get(key)
    if (place === undefined) {
      place = { environment, partition, offsets: new Map() }
      this.#partitions.set(key, place)
    }
    return place
  }
}

type Partition = {
  readonly environment: string
  readonly partition: number
  /** Offset by id, oldest first. */
  readonly offsets: Map<string, number>
}
