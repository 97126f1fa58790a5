/** A bounded map. When it is full, it drops the entry that was set the longest ago. */
export class Recent<Value> {
  readonly #entriesMax: number
  readonly #entries = new Map<string, Value>()
  /** One iterator for all drops. A new one would pass over the places of all removed entries each time. */
  #oldest = this.#entries.keys()

  constructor(entriesMax: number) {
    this.#entriesMax = entriesMax
  }

  get size(): number {
    return this.#entries.size
  }

  has(key: string): boolean {
    return this.#entries.has(key)
  }

  get(key: string): Value | undefined {
    return this.#entries.get(key)
  }

  delete(key: string): void {
    this.#entries.delete(key)
  }

  set(key: string, value: Value): void {
    this.#entries.delete(key)
    this.#entries.set(key, value)
    if (this.#entries.size > this.#entriesMax) this.#dropOldest()
  }

  #dropOldest(): void {
    let oldest = this.#oldest.next()
    if (oldest.done === true) {
      // An iterator that reached the end stays there, also if entries are set later.
      this.#oldest = this.#entries.keys()
      oldest = this.#oldest.next()
    }
    if (oldest.done !== true) this.#entries.delete(oldest.value)
  }
}
