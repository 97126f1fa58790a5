/** Reproducible randomness: the same seed gives the same sequence everywhere. */
export class SeededRandom {
  #state: number

  constructor(seed: number) {
    this.#state = seed >>> 0
  }

  /** Returns a number of at least 0 and below 1 (mulberry32). */
  fraction(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), this.#state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }

  /** Returns a whole number of at least 0 and below `bound`. */
  below(bound: number): number {
    return Math.floor(this.fraction() * bound)
  }

  chance(probability: number): boolean {
    return this.fraction() < probability
  }

  pick<Item>(items: readonly Item[]): Item {
    return items[this.below(items.length)]!
  }

  bytes(count: number): Buffer {
    return Buffer.from(Array.from({ length: count }, () => this.below(256)))
  }
}
