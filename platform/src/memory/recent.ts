/** A bounded map. When it is full, it drops the entry that was set the longest ago. */
export class Recent<Value> {
  readonly #entriesMax: number
  readonly #entries = new Map<string, Value>()

  constructor(entriesMax: number) {
    this.#entriesMax = entriesMax
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
    if (this.#entries.size > this.#entriesMax) {
      this.#entries.delete(this.#entries.keys().next().value!)
    }
  }
}
