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

  get(key: string): string | undefined {
    return this.#entries.get(key)
  }

  *range(prefix: string, order: Order, past?: string): Iterable<readonly [string, string]> {
    const keys = [...this.#entries.keys()].filter((key) => key.startsWith(prefix)).sort()
    if (order === 'descending') keys.reverse()
    const from = past === undefined ? 0 : keys.indexOf(past) + 1
    for (const key of keys.slice(from)) yield [key, this.#entries.get(key)!]
  }

  commit(changes: ReadonlyMap<string, string | undefined>): void {
    for (const [key, value] of changes) {
      if (value === undefined) this.#entries.delete(key)
      else this.#entries.set(key, value)
    }
  }

  async close(): Promise<void> {}
}
