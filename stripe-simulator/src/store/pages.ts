export type Order = 'ascending' | 'descending'

/** What is kept, as texts under texts. A change becomes visible and durable as a whole. */
export interface Pages {
  get(key: string): string | undefined
  /** Entries whose key begins so, in the order of their keys or the other way round, from beyond `past` on. */
  range(prefix: string, order: Order, past?: string): Iterable<readonly [string, string]>
  /** Undefined removes. */
  commit(changes: ReadonlyMap<string, string | undefined>): void
  close(): Promise<void>
}

export class MemoryPages implements Pages {
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
