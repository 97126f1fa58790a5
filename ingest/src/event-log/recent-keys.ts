/** Offsets by event id, oldest first. */
type Offsets = Map<string, number>

/**
 * The ids of records with an idempotency key that are in the log and whose marks the counters projection has not set yet. Between
 * the acknowledgement and the mark, only this object knows that a key was used. Forgetting an id early changes no sum, since both
 * projections count only the first offset of an id; a retry is then answered as new.
 */
export class RecentKeys {
  readonly #idsMax: number
  /** The ids of each environment, indexed by partition. */
  readonly #partitions = new Map<string, (Offsets | undefined)[]>()
  #size = 0

  constructor(idsMax: number) {
    this.#idsMax = idsMax
  }

  get size(): number {
    return this.#size
  }

  has(environment: string, partition: number, id: string): boolean {
    return this.#partitions.get(environment)?.[partition]?.has(id) ?? false
  }

  add(environment: string, partition: number, id: string, offset: number): void {
    const offsets = this.#offsetsOf(environment, partition)
    if (offsets.has(id)) return
    if (this.#size >= this.#idsMax) this.#forgetOldest(offsets)
    offsets.set(id, offset)
    this.#size += 1
  }

  /** Forgets the ids of all records below `appliedOffset`, whose marks the counters projection has set. */
  forgetApplied(environment: string, partition: number, appliedOffset: number): void {
    const offsets = this.#offsetsOf(environment, partition)
    // Ids were added nearly in the order of their offsets, so the search ends at the first id that must stay.
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
    return [...this.#partitions.values()].flat().find((offsets) => (offsets?.size ?? 0) > 0)
  }

  #offsetsOf(environment: string, partition: number): Offsets {
    let partitions = this.#partitions.get(environment)
    if (partitions === undefined) this.#partitions.set(environment, (partitions = []))
    return (partitions[partition] ??= new Map<string, number>())
  }
}
