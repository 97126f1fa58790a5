/** Runs at most `countMax` pieces of work at a time. The others wait for their turn in the order in which they came. */
export class Turns {
  readonly #countMax: number
  #running = 0
  readonly #queue: (() => void)[] = []

  constructor(countMax: number) {
    this.#countMax = countMax
  }

  async run<Result>(work: () => Promise<Result>): Promise<Result> {
    if (this.#running >= this.#countMax) {
      // Whoever ends hands its turn over, so it never looks free in between.
      await new Promise<void>((resolve) => this.#queue.push(resolve))
    } else this.#running += 1
    try {
      return await work()
    } finally {
      const next = this.#queue.shift()
      if (next === undefined) this.#running -= 1
      else next()
    }
  }
}
