/** A random source that repeats with the same seed (sfc32). */
export class Random {
  readonly #state: Uint32Array

  constructor(seed: number) {
    this.#state = Uint32Array.of(seed, 0x9e3779b9, 0x243f6a88, 1)
    for (let round = 0; round < 16; round++) this.#next()
  }

  /** Returns a whole number within inclusive bounds. */
  between(least: number, most: number): number {
    return least + (this.#next() % (most - least + 1))
  }

  happens(percent: number): boolean {
    return this.between(1, 10_000) <= percent * 100
  }

  pick<Item>(items: readonly Item[]): Item {
    return items[this.between(0, items.length - 1)]!
  }

  #next(): number {
    const state = this.#state
    const sum = (state[0]! + state[1]! + state[3]!) >>> 0
    state[3] = state[3]! + 1
    state[0] = state[1]! ^ (state[1]! >>> 9)
    state[1] = state[2]! + (state[2]! << 3)
    state[2] = ((state[2]! << 21) | (state[2]! >>> 11)) + sum
    return sum
  }
}
