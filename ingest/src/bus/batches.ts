/**
 * Collects the items that arrive within one turn of the event loop and handles them as one batch, so that the log stores them in
 * one append.
 */
export class Batches<Item> {
  readonly #sizeMax: number
  readonly #handle: (items: readonly Item[]) => void
  #items: Item[] = []

  constructor(sizeMax: number, handle: (items: readonly Item[]) => void) {
    this.#sizeMax = sizeMax
    this.#handle = handle
  }

  add(item: Item): void {
    this.#items.push(item)
    if (this.#items.length >= this.#sizeMax) this.#flush()
    else if (this.#items.length === 1) setImmediate(() => this.#flush())
  }

  #flush(): void {
    if (this.#items.length === 0) return
    const items = this.#items
    this.#items = []
    this.#handle(items)
  }
}
