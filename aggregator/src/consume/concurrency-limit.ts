/**
 * Bounds the number of batches that run at a time, in first-come order. Memory stays bounded by the number of batches in progress,
 * and a busy partition waits for the others after each batch.
 */
export class ConcurrencyLimit {
  #free: number
  readonly #waiting: (() => void)[] = []

  constructor(concurrencyMax: number) {
    this.#free = concurrencyMax
  }

  async run<Result>(work: () => Promise<Result>): Promise<Result> {
    if (this.#free > 0) this.#free--
    else await new Promise<void>((resolve) => this.#waiting.push(resolve))
    try {
      return await work()
    } finally {
      const next = this.#waiting.shift()
      if (next === undefined) this.#free++
      else next()
    }
  }
}
