/**
 * Lets a limited number of batches run at a time, first come first served: memory stays bounded by the number of
 * batches in hand, and a busy partition queues behind the others after each batch.
 */
export class Turnstile {
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
