/**
 * The ids of records with an idempotency key that are in the log and whose marks the counters projection has not set yet. Between
 * the acknowledgement and the mark, only this object knows that a key was used. Forgetting an id early changes no sum, since both
 * projections count only the first offset of an id; a retry is then answered as new.
 */
export class RecentKeys {
  readonly #idsMax: number
  /** The ids of each environment, indexed by partition. */
  readonly #partitions = new Map<string, (KeyQueue | undefined)[]>()
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
    const keys = this.#keysOf(environment, partition)
    if (keys.has(id)) return
    if (this.#size >= this.#idsMax) this.#forgetOldest(keys)
    keys.add(id, offset)
    this.#size += 1
  }

  /** Forgets the ids of all records below `appliedOffset`, whose marks the counters projection has set. */
  forgetApplied(environment: string, partition: number, appliedOffset: number): void {
    const keys = this.#keysOf(environment, partition)
    // Ids were added nearly in the order of their offsets, so the search ends at the first id that must stay.
    while ((keys.oldestOffset() ?? appliedOffset) < appliedOffset) {
      keys.forgetOldest()
      this.#size -= 1
    }
  }

  #forgetOldest(preferred: KeyQueue): void {
    const keys = preferred.size > 0 ? preferred : this.#anyOccupied()
    if (keys === undefined) return
    keys.forgetOldest()
    this.#size -= 1
  }

  #anyOccupied(): KeyQueue | undefined {
    return [...this.#partitions.values()].flat().find((keys) => (keys?.size ?? 0) > 0)
  }

  #keysOf(environment: string, partition: number): KeyQueue {
    let partitions = this.#partitions.get(environment)
    if (partitions === undefined) this.#partitions.set(environment, (partitions = []))
    return (partitions[partition] ??= new KeyQueue())
  }
}

/** Ids with their offsets, forgotten in the order in which they were added. */
class KeyQueue {
  readonly #offsets = new Map<string, number>()
  /**
   * One iterator for all removals. A new one would pass over the places of all removed entries each time, which at 500,000 ids
   * takes longer than all the rest of recording an event.
   */
  #order = this.#offsets.entries()
  /** The entry that the iterator returned and that is not removed yet. */
  #oldest: readonly [id: string, offset: number] | undefined

  get size(): number {
    return this.#offsets.size
  }

  has(id: string): boolean {
    return this.#offsets.has(id)
  }

  add(id: string, offset: number): void {
    this.#offsets.set(id, offset)
  }

  /** Undefined if there are no ids. */
  oldestOffset(): number | undefined {
    if (this.#oldest === undefined && this.size > 0) {
      const next = this.#order.next()
      // An iterator that reached the end stays there, also if ids are added later.
      if (next.done === true) this.#order = this.#offsets.entries()
      this.#oldest = next.done === true ? this.#order.next().value : next.value
    }
    return this.#oldest?.[1]
  }

  forgetOldest(): void {
    this.oldestOffset()
    if (this.#oldest === undefined) return
    this.#offsets.delete(this.#oldest[0])
    this.#oldest = undefined
  }
}
