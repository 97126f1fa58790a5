/** Runs at most `countMax` tasks at a time. Other tasks wait in the order of their arrival. */
export class ConcurrencyLimit {
  readonly #countMax: number
  #running = 0
  readonly #queue: (() => void)[] = []

  constructor(countMax: number) {
    this.#countMax = countMax
  }

  /** Number of tasks that wait to run. */
  get waiting(): number {
    return this.#queue.length
  }

  async run<Result>(work: () => Promise<Result>): Promise<Result> {
    if (this.#running >= this.#countMax) {
      // A task that ends hands its turn to the next one, so the turn is never free in between.
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
