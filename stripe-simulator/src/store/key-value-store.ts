export type Order = 'ascending' | 'descending'

/** A store of texts by key. A commit becomes visible and durable as a whole. */
export interface KeyValueStore {
  get(key: string): string | undefined
  /** Returns the entries whose key has the prefix, in the given order, starting after `past`. */
  range(prefix: string, order: Order, past?: string): Iterable<readonly [string, string]>
  /** Applies changes. An undefined value removes its key. */
  commit(changes: ReadonlyMap<string, string | undefined>): void
  close(): Promise<void>
}

export class MemoryStore implements KeyValueStore {
  readonly #entries = new Map<string, string>()
  /** All keys in ascending order. Every request reads a range, so it must not sort or search all of them. */
  readonly #keys: string[] = []

  get(key: string): string | undefined {
    return this.#entries.get(key)
  }

  /** The keys are those of the first step. A key that is removed between two steps is left out. */
  *range(prefix: string, order: Order, past?: string): Iterable<readonly [string, string]> {
    const keys = this.#keysFrom(prefix)
    const isUp = order === 'ascending'
    for (const key of isUp ? keys : keys.reverse()) {
      if (past !== undefined && (isUp ? key <= past : key >= past)) continue
      const value = this.#entries.get(key)
      if (value !== undefined) yield [key, value]
    }
  }

  commit(changes: ReadonlyMap<string, string | undefined>): void {
    for (const [key, value] of changes) {
      if (value === undefined) this.#remove(key)
      else this.#put(key, value)
    }
  }

  async close(): Promise<void> {}

  #put(key: string, value: string): void {
    if (!this.#entries.has(key)) this.#keys.splice(this.#placeOf(key), 0, key)
    this.#entries.set(key, value)
  }

  #remove(key: string): void {
    if (this.#entries.delete(key)) this.#keys.splice(this.#placeOf(key), 1)
  }

  /** Returns the keys with the prefix, which follow each other. */
  #keysFrom(prefix: string): string[] {
    const first = this.#placeOf(prefix)
    let end = first
    while (this.#keys[end]?.startsWith(prefix) === true) end += 1
    return this.#keys.slice(first, end)
  }

  /** Returns the index of the first key that is not less than this one. */
  #placeOf(key: string): number {
    let from = 0
    let to = this.#keys.length
    while (from < to) {
      const middle = (from + to) >>> 1
      if (this.#keys[middle]! < key) from = middle + 1
      else to = middle
    }
    return from
  }
}
